// A control plane on one thread that makes HTTP calls: they take real time while its virtual clock stands
// still.

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/control_plane/call_targets.h"
#include "testbed/embedding/testbed.h"
#include "tests/testbed/control_plane/http_client/http_calls.h"
#include "tests/testbed/control_plane/http_client/misbehaving_server.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;

class TestbedCallsTest : public testing::Test {
 protected:
  void StartReplicaSet(int replicas) {
    Json labels = {{"app", "web"}};
    Json set = {{"metadata", {{"name", "web"}}},
                {"spec",
                 {{"replicas", replicas},
                  {"selector", {{"matchLabels", labels}}},
                  {"template",
                   {{"metadata", {{"labels", labels}}},
                    {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}},
                  {"downscalePodPicker",
                   {{"http", {{"host", "picker.shop.svc"}, {"port", 80}, {"path", "/pick"}}},
                    {"timeoutSeconds", 30}}}}}};
    bed.Must(bed.Create("replicasets", "default", set));
    bed.clock().RunUntilIdle(1min);
  }
  void Scale(int replicas) {
    bed.Must(bed.Patch("replicasets", {"default", "web"}, {{"spec", {{"replicas", replicas}}}}));
  }
  std::vector<std::string> Pods() {
    std::vector<std::string> names;
    for (const api::ObjectPtr& pod : bed.List("pods", "default"))
      names.push_back(pod->Document()->at("metadata").at("name").get<std::string>());
    return names;
  }

  std::atomic<int> calls = 0;
  std::shared_ptr<CallTargets> targets = std::make_shared<CallTargets>();
  std::unique_ptr<api::HttpCaller> caller = MakeCaller({.locate = [this](const api::HttpCall& call) {
    ++calls;
    return targets->Find(call);
  }});
  Testbed bed{{.feature_gates = "DownscalePodPicker=true",
               .nodes = 1,
               .http_caller = caller.get(),
               .call_targets = targets}};
};

TEST_F(TestbedCallsTest, RunUntilIdleWaitsForARealPicker) {
  StartReplicaSet(3);
  std::vector<std::string> pods = Pods();
  ASSERT_EQ(pods.size(), 3u);
  Json chosen = {{"chosen_pods", {pods[1]}}};
  std::string body = chosen.dump();
  MisbehavingServer server([&](MisbehavingServer::Connection& connection) {
    connection.ReadRequest();
    // The call takes longer than all work that a control plane could do without waiting for it.
    connection.SendSlowly("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                          body);
  });
  ASSERT_TRUE(
      bed.call_targets().Register({"shop", "picker"}, {{"address", "127.0.0.1:" + server.port()}}).ok());
  Scale(2);
  EXPECT_EQ(bed.clock().RunUntilIdle(5min).why, RunOutcome::Why::kIdle);
  EXPECT_EQ(Pods(), (std::vector<std::string>{pods[0], pods[2]}));
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(TestbedCallsTest, ATestbedMayEndWithACallUnderWay) {
  StartReplicaSet(3);
  MisbehavingServer server([](MisbehavingServer::Connection& connection) { connection.WaitForClose(); });
  ASSERT_TRUE(
      bed.call_targets().Register({"shop", "picker"}, {{"address", "127.0.0.1:" + server.port()}}).ok());
  Scale(2);
  EXPECT_EQ(bed.clock().RunUntil([this] { return calls > 0; }, 1min).why, RunOutcome::Why::kDone);
}

}  // namespace
}  // namespace terrarium::testbed
