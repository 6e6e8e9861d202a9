#include "testbed/control_plane/call_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::testbed {
namespace {

using api::Json;
using testing::AllOf;
using testing::HasSubstr;
using Outcome = api::HttpAnswer::Outcome;

const api::ObjectName kPicker{"default", "picker"};

api::HttpCall To(std::string host, std::string port) {
  api::HttpCall call;
  call.host = std::move(host);
  call.port = std::move(port);
  return call;
}

class CallTargetsTest : public testing::Test {
 protected:
  CallTarget Found(const std::string& host, const std::string& port) {
    auto found = targets.Find(To(host, port));
    if (auto* target = std::get_if<CallTarget>(&found)) return *target;
    ADD_FAILURE() << std::get<api::HttpAnswer>(found).error;
    return {};
  }
  std::string Refused(const std::string& host, const std::string& port, Outcome outcome) {
    auto found = targets.Find(To(host, port));
    auto* answer = std::get_if<api::HttpAnswer>(&found);
    if (answer == nullptr) return "it was found at " + std::get<CallTarget>(found).host;
    EXPECT_EQ(answer->outcome, outcome) << answer->error;
    return answer->error;
  }
  void Register(Json body) {
    auto registered = targets.Register(kPicker, body);
    EXPECT_TRUE(registered.ok()) << registered.status().message;
  }
  std::string Refusal(Json body) {
    auto registered = targets.Register(kPicker, body);
    return registered.ok() ? "it was registered" : registered.status().message;
  }

  CallTargets targets;
};

TEST_F(CallTargetsTest, LoopbackIsCalledAsItIs) {
  EXPECT_EQ(Found("127.0.0.1", "9000"), (CallTarget{"127.0.0.1", 9000}));
  EXPECT_EQ(Found("[::1]", "9000"), (CallTarget{"::1", 9000}));
  EXPECT_EQ(Found("LocalHost.", "9000"), (CallTarget{"localhost", 9000}));
}

TEST_F(CallTargetsTest, WhatIsNotListedIsNotCalled) {
  EXPECT_THAT(Refused("example.com", "80", Outcome::kNotAllowed),
              AllOf(HasSubstr("example.com:80"), HasSubstr("--pod-picker-allow")));
  Refused("10.0.0.1", "80", Outcome::kNotAllowed);
  CallTargets listed(*HostAllowList::Parse("example.com:443"));
  EXPECT_TRUE(std::holds_alternative<CallTarget>(listed.Find(To("example.com", "443"))));
  EXPECT_TRUE(std::holds_alternative<api::HttpAnswer>(listed.Find(To("example.com", "80"))));
  EXPECT_TRUE(std::holds_alternative<api::HttpAnswer>(listed.Find(To("localhost", "443"))));
}

TEST_F(CallTargetsTest, OnlyAServiceHasNamedPorts) {
  EXPECT_EQ(Refused("127.0.0.1", "http", Outcome::kUnknownHost), "127.0.0.1 has no port \"http\"");
  Refused("127.0.0.1", "0", Outcome::kUnknownHost);
  Refused("127.0.0.1", "65536", Outcome::kUnknownHost);
}

TEST_F(CallTargetsTest, AServiceIsCalledWhereItIsRegistered) {
  EXPECT_THAT(Refused("picker.default.svc", "80", Outcome::kUnknownHost),
              AllOf(HasSubstr("Service default/picker"), HasSubstr("PUT"),
                    HasSubstr("/terrarium/v1/services/default/picker/address")));
  Register({{"address", "127.0.0.1:9000"}});
  for (const char* host : {"picker.default.svc", "picker.default.svc.cluster.local", "PICKER.default.svc."})
    for (const char* port : {"80", "443", "http"})
      EXPECT_EQ(Found(host, port), (CallTarget{"127.0.0.1", 9000}));
  Register({{"address", "localhost:9001"}});  // again
  EXPECT_EQ(Found("picker.default.svc", "80"), (CallTarget{"localhost", 9001}));
  EXPECT_TRUE(targets.Unregister(kPicker).ok());
  Refused("picker.default.svc", "80", Outcome::kUnknownHost);
  EXPECT_EQ(targets.Unregister(kPicker).status().code, 404);
}

TEST_F(CallTargetsTest, MalformedServiceNamesAreNotResolved) {
  for (const char* host :
       {"picker.svc", "a.picker.default.svc", "_x.default.svc", "picker.svc.cluster.local"})
    EXPECT_THAT(Refused(host, "80", Outcome::kUnknownHost), HasSubstr("NAME.NAMESPACE.svc"));
}

TEST_F(CallTargetsTest, PortsCanBeRegisteredByNameAndByNumber) {
  Register({{"address", "127.0.0.1"}, {"ports", {{"https", 9443}, {"8080", 9001}}}});
  EXPECT_EQ(Found("picker.default.svc", "https").port, 9443);
  EXPECT_EQ(Found("picker.default.svc", "8080").port, 9001);
  EXPECT_EQ(Found("picker.default.svc", "7000").port, 7000);  // the Service has no other port
  EXPECT_EQ(Refused("picker.default.svc", "http", Outcome::kUnknownHost),
            "Service default/picker has no port \"http\"");
}

TEST_F(CallTargetsTest, TheServicesOwnPortsAreKnown) {
  targets.SetServicePorts([](const api::ObjectName& service) -> std::vector<ServicePort> {
    if (service != kPicker) return {};
    return {{"http", 80}, {"https", 443}};
  });
  Register({{"address", "127.0.0.1"}});
  EXPECT_EQ(Found("picker.default.svc", "https").port, 443);
  Register({{"address", "127.0.0.1"}, {"ports", {{"https", 9443}, {"80", 9080}}}});
  EXPECT_EQ(Found("picker.default.svc", "443").port, 9443);   // by its name
  EXPECT_EQ(Found("picker.default.svc", "http").port, 9080);  // by its number
  Refused("picker.default.svc", "grpc", Outcome::kUnknownHost);
}

TEST_F(CallTargetsTest, ARegistrationDoesNotBypassTheList) {
  EXPECT_THAT(Refusal({{"address", "10.0.0.1:80"}}), HasSubstr("--pod-picker-allow"));
  EXPECT_THAT(Refusal({{"address", "example.com:80"}}), HasSubstr("--pod-picker-allow"));
  EXPECT_THAT(Refusal({{"address", "other.default.svc:80"}}),
              HasSubstr("a Service cannot stand for another one"));

  CallTargets by_port(*HostAllowList::Parse("*.svc,10.0.0.1:443"));
  ASSERT_TRUE(by_port.Register(kPicker, {{"address", "10.0.0.1"}, {"ports", {{"https", 443}}}}).ok());
  EXPECT_TRUE(std::holds_alternative<CallTarget>(by_port.Find(To("picker.default.svc", "https"))));
  auto found = by_port.Find(To("picker.default.svc", "80"));
  EXPECT_EQ(std::get<api::HttpAnswer>(found).outcome, Outcome::kNotAllowed);
  EXPECT_THAT(std::get<api::HttpAnswer>(found).error,
              AllOf(HasSubstr("10.0.0.1:80"), HasSubstr("default/picker"), HasSubstr("--pod-picker-allow")));
}

TEST_F(CallTargetsTest, AMalformedRegistrationIsRefusedAndChangesNothing) {
  Register({{"address", "127.0.0.1:9000"}});
  Json before = targets.List();
  for (const Json& body :
       {Json::object(), Json{{"address", 9000}}, Json{{"address", ""}}, Json{{"address", "127.0.0.1:http"}},
        Json{{"address", "127.0.0.1:0"}}, Json{{"address", "127.0.0.1:9000"}, {"port", 1}},
        Json{{"address", "127.0.0.1"}, {"ports", Json::array()}},
        Json{{"address", "127.0.0.1"}, {"ports", {{"a b", 1}}}},
        Json{{"address", "127.0.0.1"}, {"ports", {{"http", 0}}}},
        Json{{"address", "127.0.0.1"}, {"ports", {{"http", "80"}}}},
        Json{{"address", "127.0.0.1"}, {"ports", {{"http", 70000}}}}})
    EXPECT_EQ(targets.Register(kPicker, body).status().code, 400) << body;
  EXPECT_EQ(targets.Register({"default", "Not.A.Name"}, {{"address", "127.0.0.1:1"}}).status().code, 400);
  EXPECT_EQ(targets.List(), before);
}

TEST_F(CallTargetsTest, TheListShowsWhatIsRegistered) {
  Register({{"address", "127.0.0.1:9000"}});
  ASSERT_TRUE(targets.Register({"a", "b"}, {{"address", "[::1]:9000"}, {"ports", {{"https", 9443}}}}).ok());
  EXPECT_EQ(targets.List(), Json::parse(R"({"services": [
      {"namespace": "a", "name": "b", "address": "[::1]:9000", "ports": {"https": 9443}},
      {"namespace": "default", "name": "picker", "address": "127.0.0.1:9000"}]})"));
}

}  // namespace
}  // namespace terrarium::testbed
