#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/why.h"
#include "testbed/embedding/testbed.h"
#include "testbed/server/control_api.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using controllers::WhyRecord;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WhyEndpointTest : public testing::Test {
 protected:
  WhyEndpointTest() {
    Record("pods", "web-1", "replicasets", "web");
    Record("replicasets", "web", "deployments", "web");
    Record("pods", "other-1", "replicasets", "other");
  }

  void Record(const std::string& resource, const std::string& name, const std::string& owner_resource,
              const std::string& owner) {
    WhyRecord record;
    record.time = bed.Now();
    record.revision = 412;
    record.controller = "replicaset-controller";
    record.action = "create";
    record.resource = resource;
    record.object = {"default", name};
    record.owner_resource = owner_resource;
    record.owner = {"default", owner};
    record.rule = "2 of 3 are there";
    record.saw = std::make_shared<const Json>(Json{{"live", 2}, {"wanted", 3}});
    bed.why().Record(record);
  }

  apiserver::Response Serve(std::vector<std::pair<std::string, std::string>> query,
                            std::string path = "/why") {
    apiserver::Request request;
    request.method = "GET";
    request.path = "/terrarium/v1" + path;
    request.query = std::move(query);
    apiserver::Response answer;
    control.Serve(request, [&answer](apiserver::Response response) { answer = std::move(response); });
    return answer;
  }
  std::vector<std::string> Names(std::vector<std::pair<std::string, std::string>> query) {
    apiserver::Response answer = Serve(std::move(query));
    EXPECT_EQ(answer.code, 200) << answer.body;
    Json document = Json::parse(answer.body);
    std::vector<std::string> names;
    for (const Json& record : document["records"]) names.push_back(record["name"]);
    return names;
  }
  std::string Refused(std::vector<std::pair<std::string, std::string>> query, int code,
                      std::string path = "/why") {
    apiserver::Response answer = Serve(std::move(query), std::move(path));
    EXPECT_EQ(answer.code, code) << answer.body;
    return Json::parse(answer.body)["message"];
  }

  Testbed bed{{.controllers = "", .kubelet = false, .scheduler = false, .nodes = 0}};
  ControlApi control{bed.control_plane(),
                     [this](const ControlApi::ClockWork& work, const auto&) { work(bed.clock()); }};
};

TEST_F(WhyEndpointTest, ARecordIsShownWhole) {
  apiserver::Response answer = Serve({{"resource", "pods"}, {"namespace", "default"}, {"name", "web-1"}});
  EXPECT_EQ(Json::parse(answer.body), Json::parse(R"({"records": [{
    "time": "2026-01-01T00:00:00.000000Z", "revision": 412, "controller": "replicaset-controller",
    "action": "create", "resource": "pods", "namespace": "default", "name": "web-1",
    "owner": {"resource": "replicasets", "namespace": "default", "name": "web"},
    "rule": "2 of 3 are there", "saw": {"live": 2, "wanted": 3}}]})"));
}

TEST_F(WhyEndpointTest, WithoutParametersEverythingIsShownOldestFirst) {
  EXPECT_THAT(Names({}), ElementsAre("web-1", "web", "other-1"));
}

TEST_F(WhyEndpointTest, AnObjectIsFoundByWhatWasDoneToItAndOnItsBehalf) {
  EXPECT_THAT(Names({{"resource", "replicasets"}, {"namespace", "default"}, {"name", "web"}}),
              ElementsAre("web-1", "web"));
  EXPECT_THAT(Names({{"resource", "pods"}, {"namespace", "elsewhere"}, {"name", "web-1"}}), IsEmpty());
}

TEST_F(WhyEndpointTest, TheNamespaceDefaultsToDefault) {
  EXPECT_THAT(Names({{"resource", "pods"}, {"name", "web-1"}}), ElementsAre("web-1"));
}

TEST_F(WhyEndpointTest, BadParametersAreRefused) {
  EXPECT_THAT(Refused({{"bogus", "1"}}, 400), HasSubstr(R"(unknown parameter "bogus")"));
  EXPECT_THAT(Refused({{"name", "a"}, {"name", "b"}}, 400), HasSubstr(R"("name" comes twice)"));
  EXPECT_THAT(Refused({{"resource", "pods"}}, 400), HasSubstr("resource and name"));
  EXPECT_THAT(Refused({{"name", "web"}}, 400), HasSubstr("resource and name"));
  EXPECT_THAT(Refused({{"namespace", "default"}}, 400), HasSubstr("resource and name"));
  EXPECT_THAT(Refused({{"resource", "gizmos"}, {"name", "web"}}, 404), HasSubstr("could not find"));
  EXPECT_THAT(Refused({{"resource", "nodes"}, {"namespace", "default"}, {"name", "n"}}, 400),
              HasSubstr("no namespace"));
}

TEST_F(WhyEndpointTest, EndpointsWithoutParametersRefuseThem) {
  EXPECT_THAT(Refused({{"resource", "pods"}}, 400, "/clock"), HasSubstr(R"(unknown parameter "resource")"));
}

TEST_F(WhyEndpointTest, TheListOfEndpointsHasItWithItsParameters) {
  apiserver::Response index = Serve({}, "");
  EXPECT_THAT(index.body,
              HasSubstr(R"(curl \"$URL/terrarium/v1/why?resource=replicasets&namespace=default&name=web\")"));
}

}  // namespace
}  // namespace terrarium::testbed
