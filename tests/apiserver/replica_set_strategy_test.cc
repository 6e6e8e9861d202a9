#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Kind;
using testing::kSelected;
using testing::WithSpec;

Kind ReplicaSet() { return Kind(ReplicaSetStrategy(), "apps.v1.ReplicaSet"); }

std::string Picker(std::string_view fields) {
  return R"("downscalePodPicker":{)" + std::string(fields) + "}";
}

TEST(ReplicaSetStrategy, AvailableAboveReadyIsRefused) {
  const Json old = ReplicaSet().New(WithSpec({kSelected}));
  EXPECT_THAT(
      ReplicaSet().StatusErrors(old, R"({"replicas":1,"availableReplicas":1})"),
      ElementsAre("status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas"));
}

TEST(ReplicaSetStrategy, SelectorIsImmutable) {
  const Json old = ReplicaSet().New(WithSpec({kSelected}));
  EXPECT_THAT(
      ReplicaSet().UpdateErrors(
          old,
          R"({"spec":{"selector":{"matchLabels":{"app":"y"}},"template":{"metadata":{"labels":{"app":"y"}}}}})"),
      ElementsAre(R"(spec.selector: Invalid value: {"matchLabels":{"app":"y"}}: field is immutable)"));
}

TEST(DownscalePodPicker, TheExampleOfTheKepIsTakenAndItsSchemeWrittenInCapitals) {
  const std::string spec = WithSpec(
      {kSelected,
       Picker(R"("http":{"host":"my-app.my-namespace.svc.cluster.local","path":"/downscale-pod-picker",
                         "port":443,"scheme":"https","httpHeaders":[{"name":"authentication","valueFrom":{"secretKeyRef":
                         {"key":"authentication-token","name":"my-secret"}}}]},"timeoutSeconds":5)")});
  EXPECT_THAT(ReplicaSet().CreateErrors(spec), IsEmpty());
  const Json picker = ReplicaSet().New(spec)["spec"]["downscalePodPicker"];
  EXPECT_EQ(picker["http"]["scheme"], "HTTPS");
  EXPECT_EQ(picker["maxRetries"], 3);
  EXPECT_EQ(picker["timeoutSeconds"], 5);
}

TEST(DownscalePodPicker, DefaultsAreThreeRetriesOneSecondAndHttp) {
  const Json picker = ReplicaSet().New(
      WithSpec({kSelected, Picker(R"("http":{"host":"h","port":80})")}))["spec"]["downscalePodPicker"];
  EXPECT_EQ(picker["maxRetries"], 3);
  EXPECT_EQ(picker["timeoutSeconds"], 1);
  EXPECT_EQ(picker["http"]["scheme"], "HTTP");
}

TEST(DownscalePodPicker, WithoutAnEndpointItIsRefused) {
  EXPECT_THAT(ReplicaSet().CreateErrors(WithSpec({kSelected, Picker(R"("maxRetries":1)")})),
              ElementsAre("spec.downscalePodPicker.http: Required value"));
}

TEST(DownscalePodPicker, EachFieldIsCheckedAtItsPath) {
  EXPECT_THAT(
      ReplicaSet().CreateErrors(
          WithSpec({kSelected, Picker(R"("http":{"host":"","path":"x","port":0,"scheme":"FTP",
          "httpHeaders":[{"name":"a b"},{"name":"a","value":"v","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},
                         {"name":"a","valueFrom":{}},{"name":"a","valueFrom":{"secretKeyRef":{"key":"no/slash"}}}]},
          "maxRetries":-1,"timeoutSeconds":0)")})),
      ElementsAre(
          "spec.downscalePodPicker.http.host: Required value",
          R"(spec.downscalePodPicker.http.path: Invalid value: "x": must start with a '/')",
          "spec.downscalePodPicker.http.port: Invalid value: 0: must be between 1 and 65535, inclusive",
          R"(spec.downscalePodPicker.http.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS")",
          R"(spec.downscalePodPicker.http.httpHeaders[0].name: Invalid value: "a b": a valid HTTP header must )"
          R"(consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is )"
          R"('[-A-Za-z0-9]+'))",
          "spec.downscalePodPicker.http.httpHeaders[1].valueFrom: Invalid value: \"\": may not be specified "
          "when "
          "`value` is not empty",
          "spec.downscalePodPicker.http.httpHeaders[2].valueFrom.secretKeyRef: Required value",
          "spec.downscalePodPicker.http.httpHeaders[3].valueFrom.secretKeyRef.name: Required value",
          ::testing::StartsWith(
              "spec.downscalePodPicker.http.httpHeaders[3].valueFrom.secretKeyRef.key: Invalid "
              "value: \"no/slash\": a valid config key"),
          "spec.downscalePodPicker.maxRetries: Invalid value: -1: must be greater than or equal to 0",
          "spec.downscalePodPicker.timeoutSeconds: Invalid value: 0: must be greater than zero"));
}

}  // namespace
}  // namespace terrarium::apiserver
