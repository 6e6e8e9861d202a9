#include "api/codec/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Message& Kind(const char* name) { return Schema::Get().Must(std::string("io.k8s.api.") + name); }
const Message& Deployment() { return Kind("apps.v1.Deployment"); }
const Message& ConfigMap() { return Kind("core.v1.ConfigMap"); }

std::string TypeError(std::string_view text, const Message& message) {
  const Decoded d = DecodeJson(text, message);
  if (!d.error) return "no error: " + d.object.dump();
  EXPECT_EQ(d.error->kind, DecodeError::Kind::kType) << d.error->message;
  EXPECT_TRUE(d.object.is_null());
  return d.error->message;
}

std::string SyntaxError(std::string_view text) {
  const Decoded d = DecodeJson(text);
  if (!d.error) return "no error";
  EXPECT_EQ(d.error->kind, DecodeError::Kind::kSyntax);
  return d.error->message;
}

Json Decode(std::string_view text, const Message& message) {
  Decoded d = DecodeJson(text, message);
  EXPECT_FALSE(d.error.has_value()) << d.error->message;
  return d.object;
}

TEST(DecodeJson, ReportsUnknownFieldsWithTheirPathAndDropsThem) {
  const Decoded d = DecodeJson(
      R"({"spec":{"replicaz":3,"template":{"spec":{"containers":[{"name":"a"},{"imagee":"x","name":"b"}]}}},
          "Kind":"Deployment","metadata":{"labels":{"anything":"goes"}}})",
      Deployment());
  ASSERT_FALSE(d.error.has_value());
  EXPECT_THAT(d.strict_errors, ElementsAre(R"(unknown field "spec.replicaz")",
                                           R"(unknown field "spec.template.spec.containers[1].imagee")",
                                           R"(unknown field "Kind")"));
  EXPECT_FALSE(d.object["spec"].contains("replicaz"));
  EXPECT_EQ(d.object["metadata"]["labels"]["anything"], "goes");
}

TEST(DecodeJson, ReportsRepeatedKeysOnceAndTheLastWins) {
  const Decoded d = DecodeJson(R"({"data":{"a":"1","a":"2","a":"3"},"data":{"b":"4"}})", ConfigMap());
  ASSERT_FALSE(d.error.has_value());
  EXPECT_THAT(d.strict_errors, ElementsAre(R"(duplicate field "data.a")", R"(duplicate field "data")"));
  EXPECT_EQ(d.object["data"], Json::parse(R"({"b":"4"})"));
}

TEST(DecodeJson, KeepsStrictErrorsInDocumentOrder) {
  const Decoded d = DecodeJson(R"({"zzz":1,"data":{"k":"1","k":"2"},"aaa":{"x":1,"x":2}})", ConfigMap());
  EXPECT_THAT(d.strict_errors,
              ElementsAre(R"(unknown field "zzz")", R"(duplicate field "data.k")", R"(unknown field "aaa")"));
}

TEST(DecodeJson, StopsCollectingStrictErrorsAtAHundred) {
  std::string text = "{";
  for (int i = 0; i < 150; ++i) text += "\"x" + std::to_string(i) + "\":1,";
  text.back() = '}';
  EXPECT_EQ(DecodeJson(text, ConfigMap()).strict_errors.size(), 100U);
}

TEST(DecodeJson, ReportsAPathOnceHoweverOftenItIsRepeated) {
  const Decoded d = DecodeJson(R"({"a":{"x":1,"x":2},"a":{"x":1,"x":2},"a":{"y":[{"z":1,"z":2,"z":3}]}})");
  EXPECT_THAT(d.strict_errors, ElementsAre(R"(duplicate field "a.x")", R"(duplicate field "a")",
                                           R"(duplicate field "a.y[0].z")"));
  EXPECT_EQ(d.object.dump(), R"({"a":{"y":[{"z":3}]}})");
}

TEST(DecodeJson, CollectsNothingWhenNotStrict) {
  const Decoded d = DecodeJson(R"({"zzz":1,"data":{"k":"1","k":"2"}})", ConfigMap(), {.strict = false});
  EXPECT_THAT(d.strict_errors, IsEmpty());
  EXPECT_EQ(d.object["data"]["k"], "2");
  EXPECT_FALSE(d.object.contains("zzz"));
}

TEST(DecodeJson, DoesNotDescendIntoRawObjects) {
  const Decoded d = DecodeJson(R"({"data":{"spec":{"whatever":1,"whatever":null}},"revision":1})",
                               Kind("apps.v1.ControllerRevision"));
  EXPECT_THAT(d.strict_errors, IsEmpty());
  EXPECT_EQ(d.object["data"], Json::parse(R"({"spec":{"whatever":null}})"));
}

TEST(DecodeJson, WithoutASchemaFindsRepeatedKeysEverywhere) {
  const Decoded d = DecodeJson(R"({"a":[{"b":1,"b":2}]})");
  EXPECT_THAT(d.strict_errors, ElementsAre(R"(duplicate field "a[0].b")"));
}

TEST(DecodeJson, TypeErrorsAreThoseOfGo) {
  EXPECT_EQ(TypeError(R"({"spec":{"replicas":"3"}})", Deployment()),
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32");
  EXPECT_EQ(
      TypeError(R"({"spec":{"replicas":1.5}})", Deployment()),
      "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32");
  EXPECT_EQ(TypeError(R"({"spec":{"replicas":2147483648}})", Deployment()),
            "json: cannot unmarshal number 2147483648 into Go struct field DeploymentSpec.spec.replicas of "
            "type int32");
  EXPECT_EQ(TypeError(R"({"metadata":{"labels":[]}})", Deployment()),
            "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type "
            "map[string]string");
  EXPECT_EQ(TypeError(R"({"metadata":{"labels":{"a":1}}})", Deployment()),
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string");
  EXPECT_EQ(
      TypeError(R"({"spec":{"template":{"spec":{"containers":{}}}}})", Deployment()),
      "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type "
      "[]v1.Container");
  EXPECT_EQ(
      TypeError(R"({"spec":{"template":{"spec":{"restartPolicy":1}}}})", Deployment()),
      "json: cannot unmarshal number into Go struct field PodSpec.spec.template.spec.restartPolicy of type "
      "v1.RestartPolicy");
  EXPECT_EQ(TypeError(R"({"spec":{"strategy":{"rollingUpdate":{"maxSurge":1.5}}}})", Deployment()),
            "json: cannot unmarshal number 1.5 into Go struct field "
            "RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32");
  EXPECT_EQ(TypeError(R"({"spec":[]})", Deployment()),
            "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec");
}

TEST(DecodeJson, TheFirstTypeErrorWinsUnlessALaterOneStopsTheDecoder) {
  EXPECT_EQ(TypeError(R"({"spec":{"paused":1,"replicas":"x"}})", Deployment()),
            "json: cannot unmarshal number into Go struct field DeploymentSpec.spec.paused of type bool");
  EXPECT_EQ(TypeError(R"({"kind":1,"spec":{"containers":[{"resources":{"limits":{"cpu":"abc"}}}]}})",
                      Kind("core.v1.Pod")),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

TEST(DecodeJson, SyntaxErrorsAreThoseOfGo) {
  EXPECT_EQ(SyntaxError(""), "unexpected end of JSON input");
  EXPECT_EQ(SyntaxError(R"({"a":)"), "unexpected end of JSON input");
  EXPECT_EQ(SyntaxError("nope"), "invalid character 'o' in literal null (expecting 'u')");
  EXPECT_EQ(SyntaxError("{a}"), "invalid character 'a' looking for beginning of object key string");
  EXPECT_EQ(SyntaxError(R"({"a" 1})"), "invalid character '1' after object key");
  EXPECT_EQ(SyntaxError(R"({"a":1 "b"})"), "invalid character '\"' after object key:value pair");
  EXPECT_EQ(SyntaxError("[1 2]"), "invalid character '2' after array element");
  EXPECT_EQ(SyntaxError("[1,]"), "invalid character ']' looking for beginning of value");
  EXPECT_EQ(SyntaxError("{}x"), "invalid character 'x' after top-level value");
  EXPECT_EQ(SyntaxError("\"a\nb\""), "invalid character '\\n' in string literal");
  EXPECT_EQ(SyntaxError(R"("\q")"), "invalid character 'q' in string escape code");
  EXPECT_EQ(SyntaxError("1.x"), "invalid character 'x' after decimal point in numeric literal");
  EXPECT_EQ(SyntaxError("tru"), "invalid character ' ' in literal true (expecting 'e')");
  EXPECT_EQ(SyntaxError("[01]"), "invalid character '1' after array element");
}

TEST(DecodeJson, NestingIsBounded) {
  const std::string deep = std::string(20000, '[');
  EXPECT_EQ(SyntaxError(deep), "exceeded max depth");
  const std::string fits = std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']');
  EXPECT_FALSE(DecodeJson(fits).error.has_value());
  const std::string hidden = R"({"unknown":)" + fits + "}";
  EXPECT_EQ(DecodeJson(hidden, ConfigMap()).error->message, "exceeded max depth");
}

TEST(DecodeJson, QuantitiesWrittenAsNumbersKeepTheirDigits) {
  const Json pod = Decode(
      R"({"spec":{"containers":[{"resources":{"limits":{"a":1e3,"b":1,"c":0.5,"d":"1024Mi","e":" 2 "}}}]}})",
      Kind("core.v1.Pod"));
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["limits"],
            Json::parse(R"({"a":"1e3","b":"1","c":"500m","d":"1Gi","e":"2"})"));
}

TEST(PeekTypeMeta, ReadsTheTopLevelOnly) {
  TypeMeta meta;
  ASSERT_FALSE(
      PeekTypeMeta(R"({"spec":{"kind":"X"},"kind":"Pod","apiVersion":"v1","items":[{"kind":"Y"}]})", &meta));
  EXPECT_EQ(meta.kind, "Pod");
  EXPECT_EQ(meta.api_version, "v1");
  TypeMeta none;
  ASSERT_FALSE(PeekTypeMeta("{}", &none));
  EXPECT_EQ(none.kind, "");
}

TEST(PeekTypeMeta, NamesWhatIsWrong) {
  TypeMeta meta;
  EXPECT_EQ(PeekTypeMeta("", &meta)->message, "unexpected end of JSON input");
  EXPECT_EQ(PeekTypeMeta("[]", &meta)->message,
            "json: cannot unmarshal array into Go value of type struct { APIVersion string "
            "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }");
  EXPECT_EQ(PeekTypeMeta(R"({"kind":5})", &meta)->message,
            "json: cannot unmarshal number into Go struct field .kind of type string");
}

}  // namespace
}  // namespace terrarium::api
