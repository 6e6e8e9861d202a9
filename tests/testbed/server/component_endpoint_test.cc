// The control endpoints of components, in process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/server/control_api.h"
#include "tests/testbed/control_plane/component_testing.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;
using testing::ElementsAre;
using testing::HasSubstr;

class ComponentEndpoints : public testing::Test {
 protected:
  std::pair<int, Json> Ask(const std::string& method, const std::string& path, const std::string& body = "") {
    apiserver::Request request;
    request.method = method;
    request.path = "/terrarium/v1/components" + path;
    request.body = body;
    request.content_type = "application/json";
    std::optional<apiserver::Response> answer;
    control.Serve(request, [&answer](apiserver::Response response) { answer = std::move(response); });
    bed.clock().Settle();
    EXPECT_TRUE(answer.has_value()) << "no answer without time";
    return {answer->code, Json::parse(answer->body)};
  }
  std::string Refused(int code, const std::string& method, const std::string& path,
                      const std::string& body = "") {
    auto [got, status] = Ask(method, path, body);
    EXPECT_EQ(got, code) << status;
    EXPECT_EQ(status["kind"], "Status");
    return status["message"];
  }

  Testbed bed{{.feature_gates = kPolicyGates}};
  ControlApi control{bed.control_plane(),
                     [this](const ControlApi::ClockWork& work, const auto&) { work(bed.clock()); }};
};

TEST_F(ComponentEndpoints, ListStateRestartsAndGates) {
  auto [code, list] = Ask("GET", "");
  ASSERT_EQ(code, 200);
  std::vector<std::string> names;
  for (const Json& each : list["components"]) {
    names.push_back(each["name"]);
    EXPECT_EQ(each["state"], "running");
    EXPECT_EQ(each["synced"], true);
    EXPECT_EQ(each["restarts"], 0);
    EXPECT_EQ(each["featureGates"]["DeploymentPodReplacementPolicy"], true);
  }
  EXPECT_THAT(names, ElementsAre("apiserver", "controller-manager", "kubelet", "scheduler"));
  EXPECT_EQ(Ask("GET", "/kubelet").second["name"], "kubelet");
}

TEST_F(ComponentEndpoints, GatesAreSetInPartAndRestartTheComponent) {
  for (const char* name : {"apiserver", "controller-manager", "kubelet", "scheduler"}) {
    const std::string gates = std::string("/") + name + "/feature-gates";
    auto [code, after] = Ask("PUT", gates, R"({"JobPodReplacementPolicy": false})");
    ASSERT_EQ(code, 200) << after;
    EXPECT_EQ(after["JobPodReplacementPolicy"], false);
    EXPECT_EQ(after["DeploymentPodReplacementPolicy"], true);
    EXPECT_EQ(Ask("GET", gates).second, after);
    EXPECT_EQ(Ask("GET", std::string("/") + name).second["restarts"], 1) << name;
  }
}

TEST_F(ComponentEndpoints, BadGatesAreRefusedWithAMessage) {
  const std::string gates = "/controller-manager/feature-gates";
  EXPECT_THAT(Refused(400, "PUT", gates, R"({"Nonsense": true})"), HasSubstr("Nonsense"));
  EXPECT_THAT(Refused(400, "PUT", gates, R"({"JobPodReplacementPolicy": "false"})"),
              HasSubstr("true or false"));
  EXPECT_THAT(Refused(400, "PUT", gates, "{}"), HasSubstr("name the gates"));
  EXPECT_THAT(Refused(400, "PUT", gates, "[]"), HasSubstr("JSON object"));
  EXPECT_THAT(Refused(400, "PUT", gates, R"({"DeploymentReplicaSetTerminatingReplicas": false})"),
              HasSubstr("DeploymentPodReplacementPolicy"));
  EXPECT_THAT(Refused(404, "PUT", "/etcd/feature-gates", R"({"JobPodReplacementPolicy": true})"),
              HasSubstr("etcd"));
  EXPECT_EQ(Ask("GET", "/controller-manager").second["restarts"], 0);
}

TEST_F(ComponentEndpoints, StopStartRestartAndCrash) {
  for (const std::string name : {"/apiserver", "/controller-manager", "/kubelet", "/scheduler"}) {
    EXPECT_THAT(Refused(409, "POST", name + "/start"), HasSubstr("it is running already"));
    auto [code, stopped] = Ask("POST", name + "/stop");
    ASSERT_EQ(code, 200) << stopped;
    EXPECT_EQ(stopped["state"], "stopped");
    EXPECT_EQ(stopped["synced"], false);
    for (const char* verb : {"/stop", "/restart", "/crash"})
      EXPECT_THAT(Refused(409, "POST", name + verb), HasSubstr("it is not running"));
    auto [started_code, started] = Ask("POST", name + "/start");
    ASSERT_EQ(started_code, 200) << started;
    EXPECT_EQ(started["state"], "running");
    EXPECT_EQ(started["synced"], true);
    EXPECT_EQ(started["restarts"], 1);
    EXPECT_EQ(Ask("POST", name + "/restart").second["restarts"], 2);
    EXPECT_EQ(Ask("POST", name + "/crash").second["state"], "stopped");
    EXPECT_EQ(Ask("POST", name + "/start").second["restarts"], 3);
  }
  Refused(404, "POST", "/etcd/crash");
  Refused(405, "DELETE", "/kubelet");
  Refused(400, "POST", "/kubelet/crash", R"({"hard": true})");
}

TEST_F(ComponentEndpoints, AStartWithoutAnApiserverIsAnsweredBeforeItHasSynced) {
  Ask("POST", "/apiserver/stop");
  auto [code, restarted] = Ask("POST", "/controller-manager/restart");
  ASSERT_EQ(code, 200);
  EXPECT_EQ(restarted["state"], "running");
  EXPECT_EQ(restarted["synced"], false);
  Ask("POST", "/apiserver/start");
  bed.clock().RunUntilIdle(1min);
  EXPECT_EQ(Ask("GET", "/controller-manager").second["synced"], true);
}

TEST_F(ComponentEndpoints, PodsAndNodesCannotBeAskedAboutWithoutAKubelet) {
  Ask("POST", "/kubelet/crash");
  apiserver::Request request;
  request.method = "GET";
  request.path = "/terrarium/v1/nodes";
  int code = 0;
  control.Serve(request, [&code](apiserver::Response response) { code = response.code; });
  bed.clock().Settle();
  EXPECT_EQ(code, 409);
}

TEST_F(ComponentEndpoints, ChangesOfOneComponentComeOneAfterTheOther) {
  std::vector<int> codes;
  for (const char* verb : {"restart", "crash", "start", "stop", "restart"}) {
    apiserver::Request request;
    request.method = "POST";
    request.path = std::string("/terrarium/v1/components/kubelet/") + verb;
    control.Serve(request, [&codes](apiserver::Response response) { codes.push_back(response.code); });
  }
  bed.clock().Settle();
  EXPECT_THAT(codes, ElementsAre(200, 200, 200, 200, 409));
}

}  // namespace
}  // namespace terrarium::testbed
