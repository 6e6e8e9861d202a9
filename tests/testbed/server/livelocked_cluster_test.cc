// A cluster whose controllers answer each other forever at one instant: a ReplicaSet puts its pods on a node
// whose taint evicts them, and they end without a grace period.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/embedding/testbed.h"
#include "testbed/server/control_api.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;
using Why = RunOutcome::Why;

class LivelockedCluster : public ::testing::Test {
 protected:
  LivelockedCluster() {
    bed.clock().Advance(1min);
    bed.control_plane().runtime().SetInstantPieces([] { return 2'000; });
    bed.Must(bed.Patch("nodes", {"", "node-0"},
                       {{"spec", {{"taints", {{{"key", "k"}, {"value", "v"}, {"effect", "NoExecute"}}}}}}}));
    const Json labels = {{"app", "web"}};
    bed.Must(bed.Create("replicasets", "default",
                        {{"metadata", {{"name", "web"}}},
                         {"spec",
                          {{"replicas", 1},
                           {"selector", {{"matchLabels", labels}}},
                           {"template",
                            {{"metadata", {{"labels", labels}}},
                             {"spec",
                              {{"nodeName", "node-0"},
                               {"terminationGracePeriodSeconds", 0},
                               {"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}}));
  }

  Testbed bed{{.nodes = 1}};
};

TEST_F(LivelockedCluster, AMoveOfItsClockEndsAsBusy) {
  const api::Time before = bed.Now();
  RunOutcome outcome = bed.clock().Advance(1s);
  EXPECT_EQ(outcome.why, Why::kBusy);
  EXPECT_EQ(outcome.now, before);
  EXPECT_EQ(bed.clock().RunUntilIdle(1h).why, Why::kBusy);
}

TEST_F(LivelockedCluster, TheAnswerNamesTheBusyComponents) {
  ControlApi control(bed.control_plane(),
                     [this](const ControlApi::ClockWork& work, const auto&) { work(bed.clock()); });
  apiserver::Request request;
  request.method = "POST";
  request.path = "/terrarium/v1/clock/advance";
  request.content_type = "application/json";
  request.body = R"({"duration": "1s"})";
  Json answer;
  control.Serve(request, [&answer](apiserver::Response response) { answer = Json::parse(response.body); });
  EXPECT_EQ(answer["outcome"], "busy") << answer;
  const Json& busiest = answer["busiest"];
  EXPECT_THAT(busiest["component"].get<std::string>(), ::testing::Not(::testing::IsEmpty()));
  EXPECT_EQ(busiest["controller"], "replicaset-controller");
  EXPECT_EQ(busiest["resource"], "replicasets");
  EXPECT_EQ(busiest["name"], "web");
  EXPECT_GT(busiest["actions"], 10);
}

TEST_F(LivelockedCluster, BecomesIdleOnceTheCauseIsGone) {
  EXPECT_EQ(bed.clock().Advance(1s).why, Why::kBusy);
  bed.Must(bed.Patch("nodes", {"", "node-0"}, {{"spec", {{"taints", nullptr}}}}));
  EXPECT_EQ(bed.clock().Advance(1s).why, Why::kDone);
}

TEST(PiecesOfAnInstant, AreLimitedHoweverManyObjectsItCreates) {
  EXPECT_GT(ControlPlane::PiecesAllowed(100'000), ControlPlane::PiecesAllowed(10'000));
  EXPECT_EQ(ControlPlane::PiecesAllowed(2'147'483'647), ControlPlane::PiecesAllowed(200'000));
}

}  // namespace
}  // namespace terrarium::testbed
