#include "testbed/invariants/daemon_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testbed/invariants/rule_stage.h"

namespace terrarium::testbed::invariants {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

DaemonSetFacts Agent(bool surges, std::int64_t generation = 1, std::int64_t observed = 1) {
  DaemonSetFacts set;
  set.header = HeaderNamed("agent");
  set.generation = generation;
  set.observed_generation = observed;
  set.surges = surges;
  set.selector = Labels("app=web");
  return set;
}

PodFacts On(const std::string& node, PodFacts pod) {
  pod.daemon_node = node;
  return pod;
}
PodFacts Live(const std::string& name, const std::string& node = "n1") {
  return On(node, LivePod(name, "agent"));
}
PodFacts Terminating(const std::string& name) { return On("n1", TerminatingPod(name, "agent")); }
PodFacts Ended(const std::string& name) { return On("n1", EndedPod(name, "agent")); }

TEST(DaemonPods, ANodeHasOnePod) {
  RuleStage stage(MakeDaemonPods);
  stage.Put(Agent(false));
  stage.Put(Live("a"));
  stage.Put(Live("b", "n2"));
  EXPECT_THAT(stage.Take(), IsEmpty());
  stage.Put(Live("c"));
  EXPECT_THAT(stage.Take(),
              ElementsAre("at revision 104 daemonsets default/agent creates pod c for n1, which has a"));
  EXPECT_EQ(stage.violations().front().rule, "daemon-pods");
}

TEST(DaemonPods, ATerminatingPodHoldsItsNodeUntilItHasEnded) {
  RuleStage stage(MakeDaemonPods);
  stage.Put(Agent(false));
  stage.Put(Live("a"));
  stage.Put(Terminating("a"));
  stage.Put(Live("b"));
  EXPECT_THAT(stage.Take(), SizeIs(1));
  stage.Put(Ended("a"));
  stage.Put(Ended("b"));
  stage.Put(Live("c"));
  stage.RemovePod("c");
  stage.Put(Live("d"));
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST(DaemonPods, SurgeAllowsTwo) {
  RuleStage stage(MakeDaemonPods);
  stage.Put(Agent(true));
  stage.Put(Live("a"));
  stage.Put(Live("b"));
  EXPECT_THAT(stage.Take(), IsEmpty());
  stage.Put(Live("c"));
  EXPECT_THAT(stage.Take(), SizeIs(1));
  stage.Put(Terminating("a"));
  stage.Put(Terminating("b"));
  stage.Put(Live("d"));
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST(DaemonPods, SurgeEndsWhenTheControllerHasSeenIt) {
  RuleStage stage(MakeDaemonPods);
  stage.Put(Agent(true));
  stage.Put(Agent(false, 2, 1));
  stage.Put(Live("a"));
  stage.Put(Live("b"));
  EXPECT_THAT(stage.Take(), IsEmpty());
  stage.Put(Agent(false, 2, 2));
  stage.Put(Live("c"));
  EXPECT_THAT(stage.Take(), SizeIs(1));
}

TEST(DaemonPods, PodsOfOthersDoNotCount) {
  RuleStage stage(MakeDaemonPods);
  stage.Put(Agent(false));
  stage.Adopt(Live("adopted"));
  stage.writer = "";
  stage.Put(Live("by hand"));
  stage.writer = std::string(kControllerManager);
  stage.Put(Live("a"));
  EXPECT_THAT(stage.Take(), IsEmpty());
}

}  // namespace
}  // namespace terrarium::testbed::invariants
