// ConfigMap, Secret, ServiceAccount and ControllerRevision: kinds without behaviour.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Kind;
using ::testing::StartsWith;

Kind ConfigMap() { return Kind(ConfigMapStrategy(), "core.v1.ConfigMap"); }
Kind Secret() { return Kind(SecretStrategy(), "core.v1.Secret"); }
Kind Account() { return Kind(ServiceAccountStrategy(), "core.v1.ServiceAccount"); }
Kind Revision() { return Kind(ControllerRevisionStrategy(), "apps.v1.ControllerRevision"); }

TEST(ConfigMapStrategy, KeysAreCheckedAndUniqueAcrossBothMaps) {
  EXPECT_THAT(ConfigMap().CreateErrors(
                  R"({"metadata":{"name":"n"},"data":{"a":"b","..":"x"},"binaryData":{"a":"AA=="}})"),
              ElementsAre("data[..]: Invalid value: \"..\": must not be '..'",
                          "data[a]: Invalid value: \"a\": duplicate of key present in binaryData"));
  EXPECT_THAT(
      ConfigMap().CreateErrors(R"({"metadata":{"name":"n"},"data":{"a/b":""}})"),
      ElementsAre(StartsWith("data[a/b]: Invalid value: \"a/b\": a valid config key must consist of")));
}

TEST(ConfigMapStrategy, AMebibyteIsTheLimit) {
  const std::string big(1024 * 1024, 'x');
  EXPECT_THAT(ConfigMap().CreateErrors(R"({"metadata":{"name":"n"},"data":{"a":")" + big + R"("}})"),
              IsEmpty());
  EXPECT_THAT(ConfigMap().CreateErrors(R"({"metadata":{"name":"n"},"data":{"a":")" + big + R"(x"}})"),
              ElementsAre("[]: Too long: may not be more than 1048576 bytes"));
}

TEST(ConfigMapStrategy, ImmutableIsForGood) {
  const Json old = ConfigMap().New(R"({"metadata":{"name":"n"},"data":{"a":"b"},"immutable":true})");
  EXPECT_THAT(
      ConfigMap().UpdateErrors(old, R"({"data":{"a":"c"},"immutable":false,"binaryData":{"b":"AA=="}})"),
      ElementsAre("immutable: Forbidden: field is immutable when `immutable` is set",
                  "data: Forbidden: field is immutable when `immutable` is set",
                  "binaryData: Forbidden: field is immutable when `immutable` is set"));
  EXPECT_THAT(ConfigMap().UpdateErrors(old, R"({"metadata":{"labels":{"a":"b"}}})"), IsEmpty());
}

TEST(SecretStrategy, StringDataOverwritesDataAndIsNotKept) {
  const Json secret =
      Secret().New(R"({"metadata":{"name":"n"},"data":{"a":"AA==","b":"AA=="},"stringData":{"a":"hi"}})");
  EXPECT_EQ(secret["data"], Json::parse(R"({"a":"aGk=","b":"AA=="})"));
  EXPECT_FALSE(secret.contains("stringData"));
  EXPECT_EQ(secret["type"], "Opaque");
}

TEST(SecretStrategy, KnownTypesNeedTheirKeys) {
  const auto errors = [](std::string_view type) {
    return Secret().CreateErrors(R"({"metadata":{"name":"n"},"type":")" + std::string(type) + R"("})");
  };
  EXPECT_THAT(errors("kubernetes.io/tls"),
              ElementsAre("data[tls.crt]: Required value", "data[tls.key]: Required value"));
  EXPECT_THAT(errors("kubernetes.io/basic-auth"),
              ElementsAre("data[username]: Required value", "data[password]: Required value"));
  EXPECT_THAT(errors("kubernetes.io/ssh-auth"), ElementsAre("data[ssh-privatekey]: Required value"));
  EXPECT_THAT(errors("kubernetes.io/dockerconfigjson"),
              ElementsAre("data[.dockerconfigjson]: Required value"));
  EXPECT_THAT(errors("kubernetes.io/service-account-token"),
              ElementsAre("metadata.annotations[kubernetes.io/service-account.name]: Required value"));
  EXPECT_THAT(errors("example.com/own"), IsEmpty());
}

TEST(SecretStrategy, DockerConfigMustBeAnObject) {
  EXPECT_THAT(
      Secret().CreateErrors(
          R"({"metadata":{"name":"n"},"type":"kubernetes.io/dockercfg","stringData":{".dockercfg":"nope"}})"),
      ElementsAre(StartsWith("data[.dockercfg]: Invalid value: \"<secret contents redacted>\": ")));
}

TEST(SecretStrategy, TypeIsImmutable) {
  const Json old = Secret().New(R"({"metadata":{"name":"n"}})");
  EXPECT_THAT(Secret().UpdateErrors(old, R"({"type":"example.com/own"})"),
              ElementsAre("type: Invalid value: \"example.com/own\": field is immutable"));
}

TEST(ServiceAccountStrategy, SecretsAreNamesOnly) {
  const Json account =
      Account().New(R"({"metadata":{"name":"n"},"secrets":[{"name":"s","namespace":"x","kind":"Secret"}]})");
  EXPECT_EQ(account["secrets"], Json::parse(R"([{"name":"s"}])"));
}

TEST(ControllerRevisionStrategy, DataIsRequiredAndImmutable) {
  EXPECT_THAT(Revision().CreateErrors(R"({"metadata":{"name":"n"},"revision":-1})"),
              ElementsAre("revision: Invalid value: -1: must be greater than or equal to 0",
                          "data: Required value: data is mandatory"));
  const Json old = Revision().New(R"({"metadata":{"name":"n"},"revision":1,"data":{"a":1}})");
  EXPECT_THAT(Revision().UpdateErrors(old, R"({"data":{"a":2}})"),
              ElementsAre(R"(data: Invalid value: {"a":2}: field is immutable)"));
  EXPECT_THAT(Revision().UpdateErrors(old, R"({"revision":2})"), IsEmpty());
}

}  // namespace
}  // namespace terrarium::apiserver
