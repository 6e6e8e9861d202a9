// Rolling updates, OnDelete, revisions and rollback, on a whole cluster.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "tests/controllers/daemonset/daemon_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using controllers_testing::Agent;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class DaemonSetRollout : public controllers_testing::DaemonTest {
 protected:
  testbed::TestbedOptions Options() override { return {.nodes = 5}; }

  void Start(const Json& strategy, const Json& script = nullptr) {
    Json agent = Agent("agent:1", script);
    agent["spec"]["updateStrategy"] = strategy;
    Make(agent);
    Settle();
    ASSERT_EQ(Counts(), "desired 5 current 5 misscheduled 0 ready 5 available 5 updated 5");
  }
  static constexpr const char* kAllNew =
      "node-0:agent:2 node-1:agent:2 node-2:agent:2 node-3:agent:2 node-4:agent:2";
};

TEST_F(DaemonSetRollout, ReplacesAsManyPodsAsMayBeUnavailable) {
  Start(Rolling("40%", 0), {{"terrarium.dev/ready-delay", "10s"}});
  SetImage("agent:2");
  int steps = 0;
  for (std::int64_t updated = 0; updated < 5; ++steps) {
    ASSERT_LT(steps, 10);
    bed().clock().Advance(5s);
    EXPECT_GE(api::IntAt(Status(), 0, "numberAvailable"), 3);
    EXPECT_LE(bed().Pods("app=agent").size(), 5u);
    bed().clock().Advance(5s);
    updated = api::IntAt(Status(), 0, "updatedNumberScheduled");
  }
  Settle();
  EXPECT_EQ(Images(), kAllNew);
  EXPECT_EQ(Counts(), "desired 5 current 5 misscheduled 0 ready 5 available 5 updated 5");
  EXPECT_EQ(api::IntAt(Status(), 0, "observedGeneration"), 2);
  EXPECT_EQ(bed().Pod(PodOn("node-0")).label("pod-template-generation"), "2");
  EXPECT_EQ(Revisions(), "1=agent:1 2=agent:2");
}

TEST_F(DaemonSetRollout, StopsAtAPodThatDoesNotBecomeReady) {
  Start(Rolling(1, 0));
  Json patch;
  patch["spec"]["template"]["metadata"]["annotations"]["terrarium.dev/hold"] = "ready";
  Change(patch);
  bed().clock().Advance(10min);
  EXPECT_EQ(Counts(), "desired 5 current 5 misscheduled 0 ready 4 available 4 updated 1");
  // The pod that is not available is replaced first, and regardless of the limit.
  patch["spec"]["template"]["metadata"]["annotations"]["terrarium.dev/hold"] = nullptr;
  Change(patch);
  Settle();
  EXPECT_EQ(Counts(), "desired 5 current 5 misscheduled 0 ready 5 available 5 updated 5");
}

TEST_F(DaemonSetRollout, SurgeStartsTheNewPodFirst) {
  Start(Rolling(0, 2), {{"terrarium.dev/ready-delay", "10s"}});
  SetImage("agent:2");
  bed().clock().Advance(5s);
  EXPECT_EQ(Images(),
            "node-0:agent:1 node-0:agent:2 node-1:agent:1 node-1:agent:2 node-2:agent:1 node-3:agent:1 "
            "node-4:agent:1");
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(api::IntAt(Status(), 0, "numberAvailable"), 5);
    EXPECT_LE(bed().Pods("app=agent").size(), 7u);
    bed().clock().Advance(1s);
  }
  Settle();
  EXPECT_EQ(Images(), kAllNew);
  EXPECT_EQ(Counts(), "desired 5 current 5 misscheduled 0 ready 5 available 5 updated 5");
}

TEST_F(DaemonSetRollout, OnDeleteReplacesPodsThatOthersDelete) {
  Start({{"type", "OnDelete"}});
  SetImage("agent:2");
  Settle();
  EXPECT_EQ(Counts(), "desired 5 current 5 misscheduled 0 ready 5 available 5 updated 0");
  bed().Must(bed().Delete("pods", {"default", PodOn("node-3")}));
  Settle();
  EXPECT_EQ(Images(), "node-0:agent:1 node-1:agent:1 node-2:agent:1 node-3:agent:2 node-4:agent:1");
  EXPECT_EQ(Counts(), "desired 5 current 5 misscheduled 0 ready 5 available 5 updated 1");
}

TEST_F(DaemonSetRollout, MinReadySecondsPaceIt) {
  Json agent = Agent();
  agent["spec"]["minReadySeconds"] = 60;
  Make(agent);
  Settle();
  SetImage("agent:2");
  bed().clock().Advance(30s);
  EXPECT_EQ(api::IntAt(Status(), 0, "updatedNumberScheduled"), 1);
  bed().clock().Advance(40s);
  EXPECT_EQ(api::IntAt(Status(), 0, "updatedNumberScheduled"), 2);
  Settle();
  EXPECT_EQ(Images(), kAllNew);
}

TEST_F(DaemonSetRollout, AChangeInTheMiddleGoesOnWithTheNewestTemplate) {
  Start(Rolling(1, 0), {{"terrarium.dev/ready-delay", "10s"}});
  SetImage("agent:0");
  bed().clock().Advance(15s);
  SetImage("agent:2");
  Settle();
  EXPECT_EQ(Images(), kAllNew);
  EXPECT_EQ(Revisions(), "1=agent:1 2=agent:0 3=agent:2");
}

TEST_F(DaemonSetRollout, ARollbackTakesTheOldRevisionAgain) {
  Start(Rolling(5, 0));
  const std::string hash = bed().Pod(PodOn("node-0")).label("controller-revision-hash");
  SetImage("agent:2");
  Settle();
  ASSERT_EQ(Revisions(), "1=agent:1 2=agent:2");
  // What kubectl rollout undo sends.
  for (const api::ObjectPtr& revision : bed().List("controllerrevisions", "default")) {
    const Json document = revision->Parse();
    if (document["revision"] == 1) Change(document["data"]);
  }
  Settle();
  EXPECT_EQ(Revisions(), "2=agent:2 3=agent:1");
  EXPECT_EQ(bed().Pod(PodOn("node-0")).label("controller-revision-hash"), hash);
  EXPECT_EQ(Counts(), "desired 5 current 5 misscheduled 0 ready 5 available 5 updated 5");
}

TEST_F(DaemonSetRollout, HistoryIsTruncatedAndKeepsRevisionsInUse) {
  Json agent = Agent("agent:1");
  agent["spec"]["revisionHistoryLimit"] = 2;
  agent["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  Make(agent);
  Settle();
  for (const char* image : {"agent:2", "agent:3", "agent:4", "agent:5"}) {
    SetImage(image);
    Settle();
  }
  EXPECT_EQ(Revisions(), "1=agent:1 4=agent:4 5=agent:5") << "the pods have revision 1";
  for (int i = 0; i < 5; ++i) {
    bed().Must(bed().Delete("pods", {"default", PodOn("node-" + std::to_string(i))}));
    Settle();
  }
  SetImage("agent:6");
  Settle();
  EXPECT_EQ(Revisions(), "4=agent:4 5=agent:5 6=agent:6");
}

TEST_F(DaemonSetRollout, ATemplateThatFitsFewerNodesLeavesTheOthers) {
  Start(Rolling(0, 1), {{"terrarium.dev/ready-delay", "10s"}});
  Json patch;
  patch["spec"]["template"]["spec"]["nodeSelector"] = {{"kubernetes.io/hostname", "node-4"}};
  Change(patch);
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("node-4"));
  EXPECT_EQ(Counts(), "desired 1 current 1 misscheduled 0 ready 1 available 1 updated 1");
}

TEST_F(DaemonSetRollout, AHashCollisionIsCounted) {
  Start(Rolling(5, 0));
  SetImage("agent:2");
  Settle();
  // Another object takes the name of the next revision.
  const std::string name = "agent-" + bed().Pod(PodOn("node-0")).label("controller-revision-hash");
  SetImage("agent:1");
  Settle();
  bed().Must(bed().Delete("controllerrevisions", {"default", name}));
  Settle();
  bed().Must(
      bed().Create("controllerrevisions", "default",
                   {{"metadata", {{"name", name}}}, {"data", Json::object({{"x", 1}})}, {"revision", 1}}));
  SetImage("agent:2");
  Settle();
  EXPECT_EQ(Images(), kAllNew);
  EXPECT_EQ(api::IntAt(Status(), 0, "collisionCount"), 1);
}

// The controller-manager crashes at each of its writes in turn; the rollout ends the same.
TEST_F(DaemonSetRollout, SurvivesACrashAtEveryWrite) {
  for (const Json& strategy : {Rolling(2, 0), Rolling(0, 2)}) {
    for (int write = 1; write <= 12; ++write) {
      for (auto moment :
           {testbed::Testbed::CrashMoment::kBeforeWrite, testbed::Testbed::CrashMoment::kAfterWrite}) {
        SCOPED_TRACE("write " + std::to_string(write));
        Restart({.seed = static_cast<std::uint64_t>(write), .nodes = 5, .quiet = true});
        Start(strategy);
        SetImage("agent:2");
        bed().CrashAtWrite("controller-manager", write, moment);
        bed().clock().RunUntilIdle(10min);
        if (!bed().IsRunning("controller-manager")) {
          ASSERT_TRUE(bed().Start("controller-manager").ok());
        }
        Settle();
        EXPECT_EQ(Images(), kAllNew);
        EXPECT_EQ(Counts(), "desired 5 current 5 misscheduled 0 ready 5 available 5 updated 5");
        EXPECT_EQ(Revisions(), "1=agent:1 2=agent:2");
      }
    }
  }
}

}  // namespace
}  // namespace terrarium::controllers
