#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/control_plane/call_targets.h"
#include "testbed/embedding/testbed.h"
#include "testbed/server/control_api.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

class ServiceEndpointTest : public testing::Test {
 protected:
  apiserver::Response Serve(std::string method, std::string path, std::string body = "") {
    apiserver::Request request;
    request.method = std::move(method);
    request.path = "/terrarium/v1" + path;
    request.body = std::move(body);
    request.content_type = "application/json";
    apiserver::Response answer;
    control.Serve(request, [&answer](apiserver::Response response) { answer = std::move(response); });
    return answer;
  }
  CallTarget Find(std::string port) {
    api::HttpCall call;
    call.host = "picker.default.svc";
    call.port = std::move(port);
    return std::get<CallTarget>(bed.call_targets().Find(call));
  }

  Testbed bed{{.kubelet = false, .scheduler = false}};
  ControlApi control{bed.control_plane(), [](const ControlApi::ClockWork&, const auto&) {}};
};

TEST_F(ServiceEndpointTest, AnAddressIsRegisteredListedAndForgotten) {
  apiserver::Response put =
      Serve("PUT", "/services/default/picker/address", R"({"address": "127.0.0.1:9000"})");
  EXPECT_EQ(put.code, 200) << put.body;
  Json picker = {{"namespace", "default"}, {"name", "picker"}, {"address", "127.0.0.1:9000"}};
  EXPECT_EQ(Json::parse(put.body), picker);
  EXPECT_EQ(Json::parse(Serve("GET", "/services").body), (Json{{"services", {picker}}}));
  EXPECT_EQ(Find("80"), (CallTarget{"127.0.0.1", 9000}));
  EXPECT_EQ(Serve("DELETE", "/services/default/picker/address").code, 200);
  EXPECT_EQ(Serve("DELETE", "/services/default/picker/address").code, 404);
  EXPECT_EQ(Json::parse(Serve("GET", "/services").body), (Json{{"services", Json::array()}}));
}

TEST_F(ServiceEndpointTest, NoCacheMayKeepAResponse) {
  for (const char* path : {"", "/services", "/clock", "/nowhere"})
    EXPECT_THAT(Serve("GET", path).headers, Contains(Pair("Cache-Control", "no-cache, private"))) << path;
}

TEST_F(ServiceEndpointTest, BadRequestsHaveAnErrorMessage) {
  apiserver::Response answer =
      Serve("PUT", "/services/default/picker/address", R"({"address": "10.1.1.1:80"})");
  EXPECT_EQ(answer.code, 400);
  EXPECT_THAT(answer.body, HasSubstr("--pod-picker-allow"));
  EXPECT_EQ(Serve("PUT", "/services/default/picker/address", R"({"adress": "127.0.0.1:1"})").code, 400);
  EXPECT_EQ(Serve("POST", "/services/default/picker/address").code, 405);
  EXPECT_EQ(Serve("PUT", "/services/picker/address", "{}").code, 404);
}

TEST_F(ServiceEndpointTest, TheNumberOfServicesAndOfTheirPortsIsLimited) {
  Json address = {{"address", "127.0.0.1:9000"}};
  for (int i = 0; i < 1000; ++i)
    ASSERT_TRUE(bed.call_targets().Register({"default", "picker-" + std::to_string(i)}, address).ok()) << i;
  apiserver::Response answer = Serve("PUT", "/services/default/more/address", address.dump());
  EXPECT_EQ(answer.code, 400);
  EXPECT_THAT(answer.body, HasSubstr("at most 1000 Services"));
  EXPECT_EQ(Serve("PUT", "/services/default/picker-0/address", address.dump()).code, 200)
      << "one that is there";
  for (int port = 1; port <= 101; ++port) address["ports"][std::to_string(port)] = 9000;
  EXPECT_THAT(Serve("PUT", "/services/default/picker-0/address", address.dump()).body,
              HasSubstr("ports: at most 100"));
}

TEST_F(ServiceEndpointTest, NamedPortsAreThoseOfTheServiceInTheStore) {
  Json service = {
      {"metadata", {{"name", "picker"}}},
      {"spec", {{"ports", {{{"name", "web"}, {"port", 8081}}, {{"name", "tls"}, {"port", 8443}}}}}}};
  bed.Must(bed.Create("services", "default", service));
  ASSERT_TRUE(bed.call_targets().Register({"default", "picker"}, {{"address", "127.0.0.1"}}).ok());
  EXPECT_EQ(Find("tls").port, 8443);
}

TEST_F(ServiceEndpointTest, TheListOfEndpointsHasLinesToCopy) {
  EXPECT_THAT(Serve("GET", "").body, HasSubstr("$URL/terrarium/v1/services/default/picker/address"));
}

}  // namespace
}  // namespace terrarium::testbed
