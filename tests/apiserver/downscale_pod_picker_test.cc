// spec.downscalePodPicker of ReplicaSets and Deployments (KEP-3189).

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
Kind Deployment() { return Kind(DeploymentStrategy(), "apps.v1.Deployment"); }

std::string Picker(std::string_view fields) {
  return R"("downscalePodPicker":{)" + std::string(fields) + "}";
}

// The validation errors of a picker whose `http` has these members besides a host and a port.
testing::Texts HttpErrors(std::string_view members) {
  return ReplicaSet().CreateErrors(
      WithSpec({kSelected, Picker(R"("http":{"host":"h","port":80,)" + std::string(members) + "}")}));
}
testing::Texts HostErrors(std::string_view host) {
  return ReplicaSet().CreateErrors(
      WithSpec({kSelected, Picker(R"("http":{"port":80,"host":")" + std::string(host) + R"("})")}));
}
testing::Texts PortErrors(std::string_view port) {
  return ReplicaSet().CreateErrors(
      WithSpec({kSelected, Picker(R"("http":{"host":"h","port":)" + std::string(port) + "}")}));
}

TEST(DownscalePodPicker, TheExampleOfTheKepIsTakenAsItIsWritten) {
  const std::string spec = WithSpec(
      {kSelected,
       Picker(R"("http":{"host":"my-app.my-namespace.svc.cluster.local","path":"/downscale-pod-picker",
                         "port":443,"scheme":"https","httpHeaders":[{"name":"authentication","valueFrom":{"secretKeyRef":
                         {"key":"authentication-token","name":"my-secret"}}}]},"timeoutSeconds":5)")});
  EXPECT_THAT(ReplicaSet().CreateErrors(spec), IsEmpty());
  const Json picker = ReplicaSet().New(spec)["spec"]["downscalePodPicker"];
  EXPECT_EQ(picker["http"]["scheme"], "https");
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
          R"(spec.downscalePodPicker.http.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS", )"
          R"("http", "https")",
          R"(spec.downscalePodPicker.http.httpHeaders[0].name: Invalid value: "a b": a valid HTTP header must )"
          R"(consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is )"
          R"('[-A-Za-z0-9]+'))",
          "spec.downscalePodPicker.http.httpHeaders[1].valueFrom: Invalid value: \"\": may not be specified "
          "when "
          "`value` is not empty",
          "spec.downscalePodPicker.http.httpHeaders[2].valueFrom.secretKeyRef: Required value",
          ::testing::StartsWith("spec.downscalePodPicker.http.httpHeaders[3].valueFrom.secretKeyRef.name: "
                                "Invalid value: \"\": a "
                                "lowercase RFC 1123 subdomain must consist of"),
          ::testing::StartsWith(
              "spec.downscalePodPicker.http.httpHeaders[3].valueFrom.secretKeyRef.key: Invalid "
              "value: \"no/slash\": a valid config key"),
          "spec.downscalePodPicker.maxRetries: Invalid value: -1: must be greater than or equal to 0",
          "spec.downscalePodPicker.timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and "
          "30 seconds"));
}

TEST(DownscalePodPicker, ADeploymentsIsCheckedInTheSameWay) {
  EXPECT_THAT(Deployment().CreateErrors(WithSpec({kSelected, Picker(R"("http":{"host":"h","port":80})")})),
              IsEmpty());
  EXPECT_THAT(
      Deployment().CreateErrors(WithSpec({kSelected, Picker(R"("http":{"host":"h"},"timeoutSeconds":-1)")})),
      ElementsAre(
          "spec.downscalePodPicker.http.port: Invalid value: 0: must be between 1 and 65535, inclusive",
          "spec.downscalePodPicker.timeoutSeconds: Invalid value: -1: the timeout value must be between 1 "
          "and 30 seconds"));
}

TEST(DownscalePodPicker, ItCanBeChangedAddedAndTakenAway) {
  for (const Kind& kind : {ReplicaSet(), Deployment()}) {
    const Json with = kind.New(WithSpec({kSelected, Picker(R"("http":{"host":"h","port":80})")}));
    const Json without = kind.New(WithSpec({kSelected}));
    EXPECT_THAT(kind.UpdateErrors(with, R"({"spec":{"downscalePodPicker":{"http":{"host":"other"}}}})"),
                IsEmpty());
    EXPECT_THAT(kind.UpdateErrors(with, R"({"spec":{"downscalePodPicker":null}})"), IsEmpty());
    EXPECT_THAT(
        kind.UpdateErrors(without, R"({"spec":{"downscalePodPicker":{"http":{"host":"h","port":1}}}})"),
        IsEmpty());
    EXPECT_THAT(kind.UpdateErrors(with, R"({"spec":{"downscalePodPicker":{"http":null}}})"),
                ElementsAre("spec.downscalePodPicker.http: Required value"));
  }
}

TEST(DownscalePodPicker, HostsAreNamesAndAddresses) {
  for (const char* host :
       {"localhost", "picker.default.svc", "picker.default.svc.cluster.local", "127.0.0.1", "::1"})
    EXPECT_THAT(HostErrors(host), IsEmpty()) << host;
  for (const char* host :
       {"http://picker", "picker:80", "user@picker", "a b", "[::1]", "-picker", "Picker", "a/b"})
    EXPECT_THAT(HostErrors(host),
                ElementsAre(::testing::StartsWith("spec.downscalePodPicker.http.host: Invalid value: \"" +
                                                  std::string(host) + "\": a lowercase RFC 1123 subdomain")))
        << host;
}

TEST(DownscalePodPicker, PortsAreNumbersAndNames) {
  for (const char* port : {"1", "65535", R"("http")", R"("web-2")"})
    EXPECT_THAT(PortErrors(port), IsEmpty()) << port;
  EXPECT_THAT(
      PortErrors("65536"),
      ElementsAre(
          "spec.downscalePodPicker.http.port: Invalid value: 65536: must be between 1 and 65535, inclusive"));
  EXPECT_THAT(
      PortErrors(R"("8080")"),
      ElementsAre(
          R"(spec.downscalePodPicker.http.port: Invalid value: "8080": must contain at least one letter )"
          R"((a-z))"));
}

TEST(DownscalePodPicker, SchemesAreWrittenInCapitalsOrNot) {
  for (const char* scheme : {"HTTP", "HTTPS", "http", "https"})
    EXPECT_THAT(HttpErrors(R"("scheme":")" + std::string(scheme) + "\""), IsEmpty()) << scheme;
  EXPECT_THAT(
      HttpErrors(R"("scheme":"Https")"),
      ElementsAre(R"(spec.downscalePodPicker.http.scheme: Unsupported value: "Https": supported values: )"
                  R"("HTTP", "HTTPS", "http", "https")"));
}

TEST(DownscalePodPicker, ThePathMayBeLeftOut) {
  EXPECT_THAT(HttpErrors(R"("path":"")"), IsEmpty());
  EXPECT_THAT(HttpErrors(R"("path":"/a/b?c=d")"), IsEmpty());
}

// A blank or line break in the path would end the request line or begin a header.
TEST(DownscalePodPicker, APathMayNotEndTheRequestLine) {
  for (const char* path : {R"("path":"/a b")", R"("path":"/a\tb")", R"("path":"/a\r\nX-Evil: 1")",
                           R"("path":"/a\u007f")", R"("path":"/a\u0000")"})
    EXPECT_THAT(HttpErrors(path),
                ElementsAre(::testing::HasSubstr("must not contain blanks or control characters")))
        << path;
}

// The same rules as for admission webhooks.
TEST(DownscalePodPicker, ACallMayTakeUpToThirtySeconds) {
  for (int seconds : {1, 30})
    EXPECT_THAT(ReplicaSet().CreateErrors(WithSpec(
                    {kSelected,
                     Picker(R"("http":{"host":"h","port":1},"timeoutSeconds":)" + std::to_string(seconds))})),
                IsEmpty());
  for (int seconds : {0, 31, 2147483647})
    EXPECT_THAT(
        ReplicaSet().CreateErrors(WithSpec(
            {kSelected,
             Picker(R"("http":{"host":"h","port":1},"timeoutSeconds":)" + std::to_string(seconds))})),
        ElementsAre("spec.downscalePodPicker.timeoutSeconds: Invalid value: " + std::to_string(seconds) +
                    ": the timeout value must be between 1 and 30 seconds"));
}

TEST(DownscalePodPicker, AHeaderMayBeEmptyButNotEndTheLine) {
  EXPECT_THAT(HttpErrors(R"("httpHeaders":[{"name":"X-Empty"},{"name":"X-Tab","value":"a\tb"}])"), IsEmpty());
  EXPECT_THAT(
      HttpErrors(R"("httpHeaders":[{"name":"X","value":"a\r\nHost: b"}])"),
      ElementsAre(R"(spec.downscalePodPicker.http.httpHeaders[0].value: Invalid value: "a\r\nHost: b": )"
                  R"(must not contain control characters)"));
}

TEST(DownscalePodPicker, NoRetriesAreAllowed) {
  const std::string spec = WithSpec({kSelected, Picker(R"("http":{"host":"h","port":80},"maxRetries":0)")});
  EXPECT_THAT(ReplicaSet().CreateErrors(spec), IsEmpty());
  EXPECT_EQ(ReplicaSet().New(spec)["spec"]["downscalePodPicker"]["maxRetries"], 0);
}

}  // namespace
}  // namespace terrarium::apiserver
