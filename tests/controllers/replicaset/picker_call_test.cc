// The HTTP call that a spec describes.

#include "controllers/replicaset/internal/picker_call.h"

#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;
using testing::ElementsAre;
using testing::Pair;
using namespace std::chrono_literals;

const PickRequest kRequest{.number = 1, .candidates = {"a", "b"}};

// Secrets by name, each with the keys and values given.
FindSecret Secrets(const std::map<std::string, std::map<std::string, std::string>>& secrets) {
  return [secrets](const std::string& name) -> api::ObjectPtr {
    auto secret = secrets.find(name);
    if (secret == secrets.end()) return nullptr;
    Json data = Json::object();
    for (const auto& [key, value] : secret->second) data[key] = api::EncodeBase64(value);
    return controllers_testing::MakeObject({{"metadata", {{"name", name}}}, {"data", data}});
  };
}

Json Picker(const Json& http) {
  Json picker = {
      {"http", {{"host", "h"}, {"port", 80}, {"scheme", "HTTP"}}}, {"maxRetries", 3}, {"timeoutSeconds", 1}};
  if (!http.is_null()) picker["http"].update(http);
  return picker;
}
Json FromSecret(const char* header, const char* secret, const char* key, bool optional = false) {
  Json selector = {{"name", secret}, {"key", key}};
  if (optional) selector["optional"] = true;
  return {{"name", header}, {"valueFrom", {{"secretKeyRef", selector}}}};
}
api::HttpCall Built(const Json& picker, const FindSecret& secrets = Secrets({})) {
  return std::get<api::HttpCall>(CallOf(picker, kRequest, secrets));
}
std::string Fault(const Json& header, const FindSecret& secrets) {
  auto call = CallOf(Picker({{"httpHeaders", {header}}}), kRequest, secrets);
  const auto* fault = std::get_if<PickFault>(&call);
  if (fault == nullptr) return "none";
  return std::string(fault->outcome) + (fault->worth_retrying ? ", retried: " : ": ") + fault->message;
}

TEST(PickerCall, FollowsTheSpec) {
  Json picker = Picker({{"host", "p.ns.svc"}, {"port", "web"}, {"path", "/pick?x=1"}, {"scheme", "https"}});
  picker["timeoutSeconds"] = 7;
  const api::HttpCall call = Built(picker);
  EXPECT_TRUE(call.tls);
  EXPECT_EQ(call.host, "p.ns.svc");
  EXPECT_EQ(call.port, "web");
  EXPECT_EQ(call.path, "/pick?x=1");
  EXPECT_EQ(call.timeout, 7s);
  EXPECT_EQ(call.answer_bytes_max, 1024u * 1024u);
  EXPECT_EQ(call.body, R"({"candidate_pods":["a","b"],"number_of_pods_requested":1})");
}

TEST(PickerCall, WithoutAPathItGoesToTheRoot) {
  EXPECT_EQ(Built(Picker({})).path, "/");
  EXPECT_EQ(Built(Picker({{"path", ""}})).path, "/");
  EXPECT_EQ(Built(Picker({})).port, "80");
}

TEST(PickerCall, SchemesAreTheSameInCapitalsOrNot) {
  for (const char* scheme : {"HTTPS", "https"}) EXPECT_TRUE(Built(Picker({{"scheme", scheme}})).tls);
  for (const char* scheme : {"HTTP", "http"}) EXPECT_FALSE(Built(Picker({{"scheme", scheme}})).tls);
}

TEST(PickerCall, HeadersAreValuesAndKeysOfSecretsInTheirOrder) {
  const Json headers = {{{"name", "X-A"}, {"value", "1"}},
                        FromSecret("Authorization", "s", "token"),
                        {{"name", "X-Empty"}},
                        FromSecret("X-B", "s", "other"),
                        {{"name", "X-A"}, {"value", "2"}}};
  const api::HttpCall call =
      Built(Picker({{"httpHeaders", headers}}), Secrets({{"s", {{"token", "Bearer t"}, {"other", ""}}}}));
  EXPECT_THAT(call.headers, ElementsAre(Pair("X-A", "1"), Pair("Authorization", "Bearer t"),
                                        Pair("X-Empty", ""), Pair("X-B", ""), Pair("X-A", "2")));
}

TEST(PickerCall, AMissingSecretOrKeyIsAFaultThatStays) {
  EXPECT_EQ(Fault(FromSecret("X", "gone", "k"), Secrets({})),
            "secret_unusable: Secret \"gone\" does not exist");
  EXPECT_EQ(Fault(FromSecret("X", "s", "k"), Secrets({{"s", {{"other", "v"}}}})),
            "secret_unusable: Secret \"s\", key \"k\", does not exist");
}

TEST(PickerCall, AMissingOptionalSecretIsOmitted) {
  const Json headers = {
      FromSecret("X-A", "gone", "k", true), FromSecret("X-B", "s", "k", true), {{"name", "X-C"}}};
  EXPECT_THAT(Built(Picker({{"httpHeaders", headers}}), Secrets({{"s", {}}})).headers,
              ElementsAre(Pair("X-C", "")));
}

TEST(PickerCall, AValueThatWouldEndTheHeaderIsAFaultThatDoesNotRepeatIt) {
  for (const char* value : {"token\n", "a\r\nHost: evil", "a\x7f"})
    EXPECT_EQ(Fault(FromSecret("X", "s", "k"), Secrets({{"s", {{"k", value}}}})),
              "secret_unusable: Secret \"s\", key \"k\", cannot be sent in a header: it has a line break or "
              "another "
              "control character");
  EXPECT_EQ(Fault(FromSecret("X", "s", "k"), Secrets({{"s", {{"k", "a\tb \xc3\xa4"}}}})), "none");
}

TEST(PickerCall, ItsUrlIsForPeopleAndHasNoQuery) {
  EXPECT_EQ(UrlOf(Picker({})), "http://h:80/");
  EXPECT_EQ(UrlOf(Picker({{"host", "::1"}, {"scheme", "https"}, {"path", "/a/b?token=t"}})),
            "https://[::1]:80/a/b");
}

}  // namespace
}  // namespace terrarium::controllers::replicaset
