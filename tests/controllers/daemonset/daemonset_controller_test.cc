#include "controllers/daemonset/daemonset_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/runtime/why.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "kubelet-fake/nodes/node_agent.h"
#include "tests/controllers/daemonset/daemon_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using controllers_testing::Agent;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class DaemonSetControllerTest : public controllers_testing::DaemonTest {};

TEST_F(DaemonSetControllerTest, RunsOnePodOnEachNode) {
  api::ObjectPtr owner = Make(Agent("agent:1", {{"note", "hello"}}));
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("node-0", "node-1", "node-2"));
  EXPECT_EQ(Counts(), "desired 3 current 3 misscheduled 0 ready 3 available 3 updated 3");
  EXPECT_EQ(Status(), Json::parse(R"({"currentNumberScheduled": 3, "desiredNumberScheduled": 3,
      "numberAvailable": 3, "numberMisscheduled": 0, "numberReady": 3, "observedGeneration": 1,
      "updatedNumberScheduled": 3})"));

  const testbed::PodView pod = bed().Pod(PodOn("node-1"));
  EXPECT_EQ(pod.controller(), "agent");
  EXPECT_EQ(pod.annotation("note"), "hello");
  EXPECT_EQ(pod.label("app"), "agent");
  EXPECT_EQ(pod.label("pod-template-generation"), "1");
  EXPECT_EQ(pod.document()["metadata"]["generateName"], "agent-");
  EXPECT_EQ(pod.field(".spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
                      ".nodeSelectorTerms[0].matchFields[0].values[0]"),
            "node-1");

  std::vector<api::ObjectPtr> revisions = bed().List("controllerrevisions", "default");
  ASSERT_THAT(revisions, SizeIs(1));
  const std::string hash = pod.label("controller-revision-hash");
  EXPECT_EQ(revisions[0]->header().name, "agent-" + hash);
  EXPECT_EQ(*api::FindLabel(revisions[0]->header(), "controller-revision-hash"), hash);
  EXPECT_EQ(revisions[0]->controller()->uid, owner->header().uid);

  EXPECT_THAT(Events("SuccessfulCreate"), SizeIs(3));
  EXPECT_THAT(Events("SuccessfulCreate"), ::testing::Contains("Created pod: " + pod.name()));
  std::vector<WhyRecord> why = bed().why().Find("pods", {"default", pod.name()});
  ASSERT_THAT(why, SizeIs(1));
  EXPECT_EQ(why[0].controller, "daemonset-controller");
  EXPECT_EQ(why[0].action, "create");
  EXPECT_EQ((*why[0].saw)["node"], "node-1");
}

TEST_F(DaemonSetControllerTest, ADeletedPodIsReplacedWhenItIsGone) {
  Make(Agent("agent:1", {{"terrarium.dev/stop-after", "20s"}}));
  Settle();
  const std::string victim = PodOn("node-1");
  bed().Must(bed().Delete("pods", {"default", victim}));
  bed().clock().Advance(10s);
  EXPECT_THAT(bed().Pods("app=agent"), SizeIs(3)) << "a node has one pod at a time";
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("node-0", "node-1", "node-2"));
  EXPECT_NE(PodOn("node-1"), victim);
}

TEST_F(DaemonSetControllerTest, FollowsNodesThatComeAndGo) {
  Make(Agent());
  Settle();
  bed().Must(bed().Create("nodes", "", {{"metadata", {{"name", "late"}}}}));
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("late", "node-0", "node-1", "node-2"));
  bed().Must(bed().Delete("nodes", {"", "node-0"}));
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("late", "node-1", "node-2"));
  EXPECT_EQ(Counts(), "desired 3 current 3 misscheduled 0 ready 3 available 3 updated 3");
}

TEST_F(DaemonSetControllerTest, FollowsLabelsOfNodes) {
  Json agent = Agent();
  agent["spec"]["template"]["spec"]["nodeSelector"] = {{"disk", "ssd"}};
  Make(agent);
  Settle();
  EXPECT_THAT(Nodes(), IsEmpty());
  EXPECT_EQ(Counts(), "desired 0 current 0 misscheduled 0 ready 0 available 0 updated 0");
  Label("node-1", "disk", "ssd");
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("node-1"));
  Label("node-1", "disk", nullptr);
  Settle();
  EXPECT_THAT(Nodes(), IsEmpty());
  EXPECT_THAT(Events("SuccessfulDelete"), SizeIs(1));
}

TEST_F(DaemonSetControllerTest, ATaintKeepsNewPodsAwayAndNoExecuteRemovesPods) {
  Taint("node-0", "dedicated", "NoSchedule");
  Make(Agent());
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("node-1", "node-2"));
  Taint("node-1", "dedicated", "NoSchedule");
  Taint("node-2", "dedicated", "NoExecute");
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("node-1")) << "the pod on node-1 may stay";
  EXPECT_EQ(Counts(), "desired 0 current 0 misscheduled 1 ready 0 available 0 updated 0");
  for (const char* node : {"node-0", "node-1", "node-2"}) Untaint(node);
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("node-0", "node-1", "node-2"));
  EXPECT_EQ(Counts(), "desired 3 current 3 misscheduled 0 ready 3 available 3 updated 3");
}

TEST_F(DaemonSetControllerTest, ACordonedNodeAndOneThatIsNotReadyKeepTheirPods) {
  bed().Must(bed().Patch("nodes", {"", "node-0"}, {{"spec", {{"unschedulable", true}}}}));
  Settle();
  Make(Agent());
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("node-0", "node-1", "node-2"));
  ASSERT_TRUE(bed().nodes().Fail("node-1").ok());
  bed().clock().Advance(10min);
  EXPECT_THAT(Nodes(), ElementsAre("node-0", "node-1", "node-2"));
  EXPECT_EQ(api::IntAt(Status(), 0, "numberReady"), 2);
}

TEST_F(DaemonSetControllerTest, AFailedPodIsReplacedWithBackoff) {
  Make(Agent());
  Settle();
  std::vector<std::string> victims;
  for (int i = 0; i < 3; ++i) {
    victims.push_back(PodOn("node-1"));
    ASSERT_TRUE(bed().rules().Fail({{"namespace", "default"}, {"pod", victims.back()}}).ok());
    if (i == 1) {
      bed().clock().Advance(500ms);
      EXPECT_EQ(PodOn("node-1"), victims.back()) << "the second one on a node waits for a second";
    }
    Settle();
    EXPECT_NE(PodOn("node-1"), victims.back());
  }
  EXPECT_EQ(Counts(), "desired 3 current 3 misscheduled 0 ready 3 available 3 updated 3");
  EXPECT_EQ(Events("FailedDaemonPod").front(),
            "Found failed daemon pod default/" + victims[0] + " on node node-1, will try to kill it");
  EXPECT_THAT(Events("FailedDaemonPod"), SizeIs(3));
}

TEST_F(DaemonSetControllerTest, AdoptsAndReleasesPods) {
  Json orphan = {{"metadata", {{"name", "orphan"}, {"labels", {{"app", "agent"}}}}},
                 {"spec", {{"nodeName", "node-1"}, {"containers", {{{"name", "c"}, {"image", "agent:0"}}}}}}};
  bed().Must(bed().Create("pods", "default", orphan));
  Settle();
  Json agent = Agent();
  agent["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  Make(agent);
  Settle();
  EXPECT_EQ(PodOn("node-1"), "orphan");
  EXPECT_EQ(bed().Pod("orphan").controller(), "agent");
  EXPECT_EQ(Counts(), "desired 3 current 3 misscheduled 0 ready 3 available 3 updated 2");
  bed().Must(bed().Patch("pods", {"default", "orphan"}, {{"metadata", {{"labels", {{"app", "other"}}}}}}));
  Settle();
  EXPECT_EQ(bed().Pod("orphan").controller(), "");
  EXPECT_THAT(Nodes(), ElementsAre("node-0", "node-1", "node-2"));
}

TEST_F(DaemonSetControllerTest, MinReadySecondsDelayAvailability) {
  Json agent = Agent();
  agent["spec"]["minReadySeconds"] = 10;
  Make(agent);
  bed().clock().Advance(9s);
  EXPECT_EQ(Counts(), "desired 3 current 3 misscheduled 0 ready 3 available 0 updated 3");
  bed().clock().Advance(2s);
  EXPECT_EQ(Counts(), "desired 3 current 3 misscheduled 0 ready 3 available 3 updated 3");
}

TEST_F(DaemonSetControllerTest, DeletingItDeletesItsPodsAndRevisions) {
  Make(Agent());
  Settle();
  bed().Must(bed().Delete("daemonsets", {"default", "agent"}));
  Settle();
  EXPECT_THAT(bed().Pods("app=agent"), IsEmpty());
  EXPECT_THAT(bed().List("controllerrevisions", "default"), IsEmpty());
}

TEST_F(DaemonSetControllerTest, OrphanedPodsAndRevisionsAreAdoptedByASuccessor) {
  Make(Agent());
  Settle();
  const std::string pod = PodOn("node-1");
  bed().Must(bed().Delete("daemonsets", {"default", "agent"}, {.propagation_policy = "Orphan"}));
  Settle();
  EXPECT_EQ(bed().Pod(pod).controller(), "");
  Make(Agent());
  Settle();
  EXPECT_EQ(PodOn("node-1"), pod);
  EXPECT_EQ(bed().Pod(pod).controller(), "agent");
  EXPECT_EQ(Revisions(), "1=agent:1");
  EXPECT_EQ(Counts(), "desired 3 current 3 misscheduled 0 ready 3 available 3 updated 3");
}

TEST_F(DaemonSetControllerTest, AQuotaIsReportedAndRetried) {
  bed().Must(bed().Create("resourcequotas", "default",
                          {{"metadata", {{"name", "few"}}}, {"spec", {{"hard", {{"pods", "2"}}}}}}));
  Settle();
  Make(Agent());
  bed().clock().Advance(1s);
  EXPECT_THAT(bed().Pods("app=agent"), SizeIs(2));
  EXPECT_THAT(Events("FailedCreate"), ::testing::Not(IsEmpty()));
  bed().Must(bed().Patch("resourcequotas", {"default", "few"}, {{"spec", {{"hard", {{"pods", "9"}}}}}}));
  Settle();
  EXPECT_THAT(Nodes(), ElementsAre("node-0", "node-1", "node-2"));
}

}  // namespace
}  // namespace terrarium::controllers
