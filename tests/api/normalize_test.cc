#include "api/codec/normalize.h"

#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

const Message& Kind(const char* name) { return Schema::Get().Must(std::string("io.k8s.api.") + name); }

Json Normal(const char* kind, std::string_view text) {
  Json doc = Json::parse(text);
  const auto error = Normalize(Kind(kind), doc, nullptr);
  EXPECT_FALSE(error.has_value()) << *error;
  return doc;
}

std::string Error(const char* kind, std::string_view text) {
  Json doc = Json::parse(text);
  return Normalize(Kind(kind), doc, nullptr).value_or("no error: " + doc.dump());
}

TEST(Normalize, WritesWhatGoWritesForAnEmptyDeployment) {
  EXPECT_EQ(Normal("apps.v1.Deployment", R"({"kind":"Deployment","apiVersion":"apps/v1"})"), Json::parse(R"({
    "kind": "Deployment", "apiVersion": "apps/v1", "metadata": {},
    "spec": {"selector": null, "strategy": {}, "template": {"metadata": {}, "spec": {"containers": null}}},
    "status": {}})"));
}

TEST(Normalize, ContainersAlwaysHaveNameAndResources) {
  EXPECT_EQ(
      Normal("core.v1.PodSpec", R"({"containers":[{"image":"x"},null]})"),
      Json::parse(R"({"containers":[{"image":"x","name":"","resources":{}},{"name":"","resources":{}}]})"));
}

TEST(Normalize, DropsNullsAndEmptyValues) {
  EXPECT_EQ(Normal("core.v1.PodSpec", R"({"containers":[],"nodeName":"","hostNetwork":false,"volumes":[],
      "nodeSelector":{},"priority":null,"activeDeadlineSeconds":null,"tolerations":null,"affinity":null})"),
            Json::parse(R"({"containers":[]})"));
}

TEST(Normalize, KeepsZerosBehindPointers) {
  EXPECT_EQ(
      Normal("core.v1.PodSpec", R"({"containers":null,"priority":0,"hostUsers":false,"securityContext":{},
      "runtimeClassName":""})"),
      Json::parse(R"({"containers":null,"priority":0,"hostUsers":false,"securityContext":{},
      "runtimeClassName":""})"));
}

TEST(Normalize, BytesLoseTheBitsThatTheirPaddingLeavesUnused) {
  EXPECT_EQ(Normal("core.v1.Secret", R"({"data":{"a":"AEC=","b":"AB==","c":"aGVsbG8="}})")["data"],
            Json::parse(R"({"a":"AEA=","b":"AA==","c":"aGVsbG8="})"));
}

TEST(Normalize, DurationsBecomeGosOwnForm) {
  const auto window = [](const char* text) {
    Json doc = Json::parse(text);
    const Message& metrics = Schema::Get().Must("io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics");
    const auto error = Normalize(metrics, doc, nullptr);
    return error ? Json(*error) : doc["window"];
  };
  EXPECT_EQ(window("{}"), "0s");
  EXPECT_EQ(window(R"({"window":"90s"})"), "1m30s");
  EXPECT_EQ(window(R"({"window":null})"), R"(time: invalid duration "")");
  EXPECT_EQ(window(R"({"window":"5x"})"), R"(time: unknown unit "x" in duration "5x")");
  EXPECT_EQ(window(R"({"window":5})"),
            "json: cannot unmarshal number into Go struct field NodeMetrics.window of type string");
}

TEST(Normalize, TimesBecomeUtcSeconds) {
  const auto created = [](const char* time) {
    Json doc = {{"metadata", {{"creationTimestamp", time}}}};
    const auto error = Normalize(Kind("core.v1.ConfigMap"), doc, nullptr);
    return error ? Json(*error) : doc["metadata"].value("creationTimestamp", Json());
  };
  EXPECT_EQ(created("2024-02-29T01:02:03Z"), "2024-02-29T01:02:03Z");
  EXPECT_EQ(created("2024-02-29T01:02:03.999+02:00"), "2024-02-28T23:02:03Z");
  EXPECT_EQ(created("0001-01-01T00:00:00Z"), Json());
  EXPECT_EQ(created("abc"),
            R"(parsing time "abc" as "2006-01-02T15:04:05Z07:00": cannot parse "abc" as "2006")");
  EXPECT_EQ(created(""), R"(parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006")");
  EXPECT_EQ(created("2024-13-01T00:00:00Z"), R"(parsing time "2024-13-01T00:00:00Z": month out of range)");
  EXPECT_EQ(created("2023-02-29T00:00:00Z"), R"(parsing time "2023-02-29T00:00:00Z": day out of range)");
  EXPECT_EQ(created("9999-12-31T23:59:59-01:00"),
            R"(parsing time "9999-12-31T23:59:59-01:00": out of range)");
  EXPECT_EQ(created("2024-01-01"),
            R"(parsing time "2024-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T")");
  EXPECT_EQ(
      created("2024-01-01T00:00:00"),
      R"(parsing time "2024-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00")");
  EXPECT_EQ(created("2024-01-01T00:00:00Zx"), R"(parsing time "2024-01-01T00:00:00Zx": extra text: "x")");
}

TEST(Normalize, MicroTimesHaveSixDigits) {
  EXPECT_EQ(Normal("coordination.v1.LeaseSpec", R"({"renewTime":"2024-01-01T02:00:00.000001+02:00"})"),
            Json::parse(R"({"renewTime":"2024-01-01T00:00:00.000001Z"})"));
  EXPECT_EQ(
      Error("coordination.v1.LeaseSpec", R"({"renewTime":"2024-01-01T00:00:00Z"})"),
      R"(parsing time "2024-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000")");
  EXPECT_EQ(Error("coordination.v1.LeaseSpec", R"({"renewTime":5})"),
            "json: cannot unmarshal number into Go struct field LeaseSpec.renewTime of type string");
}

TEST(Normalize, StructsThatGoAlwaysWritesAreThere) {
  const Json event = Normal("core.v1.Event", "{}");
  EXPECT_EQ(event, Json::parse(R"({"metadata":{},"involvedObject":{},"source":{},"firstTimestamp":null,
      "lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":""})"));
  EXPECT_EQ(Normal("core.v1.ResourceFieldSelector", R"({"resource":"limits.cpu"})"),
            Json::parse(R"({"resource":"limits.cpu","divisor":"0"})"));
  EXPECT_EQ(Normal("core.v1.HTTPGetAction", "{}"), Json::parse(R"({"port":0})"));
}

TEST(Normalize, IntOrStringTakesBoth) {
  EXPECT_EQ(Normal("core.v1.HTTPGetAction", R"({"port":"web"})"), Json::parse(R"({"port":"web"})"));
  EXPECT_EQ(Error("core.v1.HTTPGetAction", R"({"port":true})"),
            "json: cannot unmarshal bool into Go struct field HTTPGetAction.port of type int32");
  EXPECT_EQ(Error("core.v1.HTTPGetAction", R"({"port":4294967296})"),
            "json: cannot unmarshal number 4294967296 into Go struct field HTTPGetAction.port of type int32");
}

TEST(Normalize, BytesMustBeBase64) {
  EXPECT_EQ(Normal("core.v1.Secret", R"({"data":{"a":"aGk=","b":"aG\nk=","c":""}})"),
            Json::parse(R"({"metadata":{},"data":{"a":"aGk=","b":"aGk=","c":""}})"));
  EXPECT_EQ(Normal("core.v1.Secret", R"({"data":{"a":[104,105]}})")["data"]["a"], "aGk=");
  EXPECT_EQ(Error("core.v1.Secret", R"({"data":{"a":[256]}})"),
            "json: cannot unmarshal number 256 into Go struct field Secret.data of type uint8");
  EXPECT_EQ(Error("core.v1.Secret", R"({"data":{"a":"a*"}})"), "illegal base64 data at input byte 1");
  EXPECT_EQ(Error("core.v1.Secret", R"({"data":{"a":"AAAAAA"}})"), "illegal base64 data at input byte 4");
  EXPECT_EQ(Error("core.v1.Secret", R"({"data":{"a":"AA="}})"), "illegal base64 data at input byte 3");
  EXPECT_EQ(Error("core.v1.Secret", R"({"data":{"a":"AA==A"}})"), "illegal base64 data at input byte 4");
  EXPECT_EQ(Error("core.v1.Secret", R"({"data":{"a":5}})"),
            "json: cannot unmarshal number into Go struct field Secret.data of type []uint8");
}

// Kubernetes answers a create with the object read back from its store, which drops a null in a byte field.
TEST(Normalize, NullsInMapsBecomeZeroValues) {
  EXPECT_EQ(Normal("core.v1.ConfigMap", R"({"data":{"a":null},"binaryData":{"b":null}})"),
            Json::parse(R"({"metadata":{},"data":{"a":""},"binaryData":{"b":""}})"));
}

TEST(Normalize, EmbeddedStructsAppearInErrorPaths) {
  EXPECT_EQ(
      Error("core.v1.PodSpec", R"({"volumes":[{"configMap":5}]})"),
      "json: cannot unmarshal number into Go struct field Volume.volumes.VolumeSource.configMap of type "
      "v1.ConfigMapVolumeSource");
}

TEST(Normalize, NamesNestedUnknownFieldsInSortedOrder) {
  Json doc = Json::parse(R"({"zz":1,"metadata":{"ownerReferences":[{"x":1}]},"data":{"a.b/c":"1"}})");
  std::vector<std::string> errors;
  ASSERT_FALSE(Normalize(Kind("core.v1.ConfigMap"), doc, &errors));
  EXPECT_EQ(errors, (std::vector<std::string>{R"(unknown field "metadata.ownerReferences[0].x")",
                                              R"(unknown field "zz")"}));
}

TEST(Normalize, IsIdempotentForEveryKind) {
  for (const Message& m : Schema::Get().messages()) {
    Json doc = Json::object();
    ASSERT_FALSE(Normalize(m, doc, nullptr)) << m.name();
    Json again = doc;
    std::vector<std::string> errors;
    ASSERT_FALSE(Normalize(m, again, &errors)) << m.name();
    EXPECT_EQ(again, doc) << m.name();
    EXPECT_TRUE(errors.empty());
  }
}

}  // namespace
}  // namespace terrarium::api
