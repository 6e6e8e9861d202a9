#include "api/codec/protobuf.h"

#include <gtest/gtest.h>

#include "api/codec/normalize.h"
#include "tests/api/schema_filler.h"

namespace terrarium::api {
namespace {

const Message& Kind(const char* name) { return Schema::Get().Must(std::string("io.k8s.api.") + name); }

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    out.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    out.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
  }
  return out;
}

Json Decode(const Message& message, std::string_view bytes) {
  std::string error;
  const auto doc = DecodeProtobufMessage(message, bytes, &error);
  EXPECT_TRUE(doc.has_value()) << error;
  return doc.value_or(Json());
}

std::string DecodeFailure(const Message& message, std::string_view bytes) {
  std::string error;
  EXPECT_FALSE(DecodeProtobufMessage(message, bytes, &error).has_value());
  return error;
}

// e2e/protobuf compares all messages with Kubernetes' own code. These tests run without Go.

TEST(Protobuf, EveryFieldOfEveryMessageSurvives) {
  for (const Message& m : Schema::Get().messages()) {
    if (m.wire_order().empty()) continue;  // tables and other kinds without a protobuf form
    Json doc = Fill(m, {.seed = 1});
    ASSERT_FALSE(Normalize(m, doc, nullptr)) << m.name();
    ASSERT_EQ(Decode(m, EncodeProtobufMessage(m, doc)), doc) << m.name();
  }
}

TEST(Protobuf, BytesAreThoseOfTheGeneratedGoCode) {
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Binding"},
              {"metadata", {{"name", "p"}}},
              {"target", {{"kind", "Node"}}}};
  ASSERT_FALSE(Normalize(Kind("core.v1.Binding"), pod, nullptr));
  // ObjectMeta: name, the empty strings, generation 0 and an empty creationTimestamp, in the order of their
  // numbers.
  EXPECT_EQ(Hex(EncodeProtobuf(Kind("core.v1.Binding"), pod)),
            "6b387300"  // k8s\0
            "0a0d0a02763112"
            "0742696e64696e67"  // apiVersion v1, kind Binding
            "1227"              // raw
            "0a11"
            "0a0170"
            "1200"
            "1a00"
            "2200"
            "2a00"
            "3200"
            "3800"
            "4200"
            "1212"
            "0a044e6f6465"
            "1200"
            "1a00"
            "2200"
            "2a00"
            "3200"
            "3a00"
            "1a00"
            "2200");
}

TEST(Protobuf, SpecialTypesHaveTheirOwnForm) {
  const Message& probe = Kind("core.v1.HTTPGetAction");
  EXPECT_EQ(Hex(EncodeProtobufMessage(probe, {{"port", "web"}, {"path", "/"}})),
            "0a012f"
            "1209"
            "0801"
            "1000"
            "1a03776562"
            "1a00"
            "2200");
  EXPECT_EQ(Hex(EncodeProtobufMessage(probe, {{"port", 80}})),
            "0a00"
            "1206"
            "0800"
            "1050"
            "1a00"
            "1a00"
            "2200");
  const Message& lease = Kind("coordination.v1.LeaseSpec");
  EXPECT_EQ(Hex(EncodeProtobufMessage(lease, {{"renewTime", "1970-01-01T00:00:01.000002Z"}})),
            "2205"
            "0801"
            "10d00f");
  const Message& selector = Kind("core.v1.ResourceFieldSelector");
  EXPECT_EQ(Hex(EncodeProtobufMessage(selector, {{"resource", "x"}, {"divisor", "1"}})),
            "0a00"
            "120178"
            "1a03"
            "0a0131");
}

TEST(Protobuf, MapsAreSortedEntriesAndListsOfNumbersAreNotPacked) {
  const Message& security = Kind("core.v1.PodSecurityContext");
  EXPECT_EQ(Hex(EncodeProtobufMessage(security, {{"supplementalGroups", {1, 300}}})),
            "2001"
            "20ac02");
  const Message& config = Kind("core.v1.ConfigMap");
  Json doc = {{"data", {{"b", "2"}, {"a", "1"}}}};
  EXPECT_TRUE(Hex(EncodeProtobufMessage(config, doc))
                  .ends_with("1206"
                             "0a0161"
                             "120131"
                             "1206"
                             "0a0162"
                             "120132"));
}

TEST(Protobuf, ReadsPackedNumbersToo) {
  EXPECT_EQ(Decode(Kind("core.v1.PodSecurityContext"), std::string("\x22\x03\x01\xac\x02", 5)),
            Json::parse(R"({"supplementalGroups":[1,300]})"));
}

TEST(Protobuf, SkipsFieldsItDoesNotKnow) {
  // 2047: a varint, bytes, a fixed32 and a group, then name=1.
  const std::string bytes = std::string("\xf8\x7f\x05", 3) + std::string("\xfa\x7f\x01x", 4) +
                            std::string("\xfd\x7f\x01\x02\x03\x04", 6) +
                            std::string("\xfb\x7f\x08\x01\xfc\x7f", 6) + std::string("\x0a\x01n", 3);
  EXPECT_EQ(Decode(Kind("core.v1.LocalObjectReference"), bytes), Json::parse(R"({"name":"n"})"));
}

TEST(Protobuf, NamesWhatIsWrong) {
  const Message& reference = Kind("core.v1.LocalObjectReference");
  EXPECT_EQ(DecodeFailure(reference, "\x0a\x05n"), "unexpected EOF");
  EXPECT_EQ(DecodeFailure(reference, "\x08\x05"), "proto: wrong wireType = 0 for field name");
  EXPECT_EQ(DecodeFailure(reference, std::string("\x00", 1)), "proto: LocalObjectReference: illegal tag");
  std::string error;
  EXPECT_FALSE(OpenProtobufEnvelope("{}", &error).has_value());
  EXPECT_EQ(error, "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
}

TEST(Protobuf, TimesHaveTheYearsThatTheirTextCanHave) {
  const Message& lease = Kind("coordination.v1.LeaseSpec");
  for (const char* time : {"0000-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"}) {
    const Json spec = {{"renewTime", time}};
    EXPECT_EQ(Decode(lease, EncodeProtobufMessage(lease, spec)), spec) << time;
  }
  // The last second of the year 9999 and 1,000,000,000 nanoseconds.
  EXPECT_EQ(DecodeFailure(lease, "\x22\x0d\x08\xff\x82\xd1\xff\xaf\x07\x10\x80\x94\xeb\xdc\x03"),
            "proto: time out of range");
  // 2^62 seconds.
  EXPECT_EQ(DecodeFailure(lease, "\x22\x0a\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40"),
            "proto: time out of range");
}

TEST(Protobuf, TextThatIsNotUtf8BecomesReplacementCharacters) {
  EXPECT_EQ(Decode(Kind("core.v1.LocalObjectReference"),
                   "\x0a\x03"
                   "a\xff"
                   "b")["name"],
            "a\xef\xbf\xbd"
            "b");
}

TEST(Protobuf, EnvelopeGivesKindAndVersionBack) {
  Json doc = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}};
  const Message& deployment = Kind("apps.v1.Deployment");
  ASSERT_FALSE(Normalize(deployment, doc, nullptr));
  std::string error;
  const std::string bytes = EncodeProtobuf(deployment, doc);
  const auto envelope = OpenProtobufEnvelope(bytes, &error);
  ASSERT_TRUE(envelope.has_value()) << error;
  EXPECT_EQ(envelope->api_version, "apps/v1");
  EXPECT_EQ(envelope->kind, "Deployment");
  EXPECT_EQ(DecodeProtobuf(deployment, *envelope, &error), doc);
}

TEST(Protobuf, WatchFramesHaveABigEndianLength) {
  EXPECT_EQ(Hex(EncodeProtobufWatchFrame("ADDED", "xyz")),
            "0000000e"
            "0a054144444544"
            "1205"
            "0a0378797a");
}

}  // namespace
}  // namespace terrarium::api
