// Components that are stopped, crashed, started and given other gates while the cluster runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/feature_gates.h"
#include "tests/testbed/control_plane/component_testing.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::IntAt;
using api::Json;
using testing::HasSubstr;

const char* const kAll[] = {"apiserver", "controller-manager", "scheduler", "kubelet"};

TEST(ComponentState, EveryComponentRunsFromTheStartWithGatesOfItsOwn) {
  Testbed bed({.feature_gates = "JobSuccessPolicy=false"});
  for (const char* component : kAll) {
    const ComponentInfo info = bed.Component(component);
    EXPECT_TRUE(info.running && info.synced) << component;
    EXPECT_EQ(info.starts, 1) << component;
    EXPECT_FALSE(info.gates.Enabled(api::gate::kJobSuccessPolicy)) << component;
  }
  Testbed::Must(bed.SetGates("kubelet", {{"JobSuccessPolicy", true}}));
  EXPECT_TRUE(bed.Gates("kubelet").Enabled(api::gate::kJobSuccessPolicy));
  EXPECT_EQ(bed.Component("kubelet").starts, 2);
  for (const char* component : {"apiserver", "controller-manager", "scheduler"}) {
    EXPECT_FALSE(bed.Gates(component).Enabled(api::gate::kJobSuccessPolicy)) << component;
    EXPECT_EQ(bed.Component(component).starts, 1) << component;
  }
}

TEST(ComponentState, InvalidGatesAreRefusedAndChangeNothing) {
  Testbed bed({.feature_gates = kPolicyGates});
  for (const char* component : kAll) {
    const api::FeatureGates before = bed.Gates(component);
    auto unknown = bed.SetGates(component, {{"JobSuccessPolicy", false}, {"NoSuchGate", true}});
    ASSERT_FALSE(unknown.ok());
    EXPECT_EQ(unknown.status().code, 400);
    EXPECT_THAT(unknown.status().message, HasSubstr("NoSuchGate"));
    auto unmet = bed.SetGates(component, {{"DeploymentReplicaSetTerminatingReplicas", false}});
    ASSERT_FALSE(unmet.ok());
    EXPECT_THAT(unmet.status().message, HasSubstr("DeploymentPodReplacementPolicy"));
    EXPECT_EQ(bed.Gates(component), before);
    EXPECT_EQ(bed.Component(component).starts, 1);
  }
}

TEST(ComponentState, UnchangedGatesRestartNothing) {
  Testbed bed;
  for (const char* component : kAll) {
    Testbed::Must(bed.SetGates(component, {{"JobSuccessPolicy", true}}));
    EXPECT_EQ(bed.Component(component).starts, 1) << component;
  }
}

TEST(ComponentState, ANoOpIsAConflictAndAnUnknownComponentIsNotFound) {
  Testbed bed({.kubelet = false});
  EXPECT_EQ(bed.Restart("kubelet").status().code, 404);
  EXPECT_EQ(bed.SetGates("etcd", {}).status().code, 404);
  for (const char* component : {"apiserver", "controller-manager", "scheduler"}) {
    EXPECT_EQ(bed.Start(component).status().code, 409) << component;
    Testbed::Must(bed.Stop(component));
    EXPECT_FALSE(bed.IsRunning(component));
    for (auto refused : {bed.Stop(component), bed.Restart(component), bed.Crash(component)}) {
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(refused.status().code, 409) << component;
      EXPECT_THAT(refused.status().message, HasSubstr("it is not running"));
    }
    Testbed::Must(bed.Start(component));
    EXPECT_EQ(bed.Component(component).starts, 2);
  }
}

TEST(ComponentState, AStoppedComponentGetsItsGatesWhenItStarts) {
  Testbed bed({.feature_gates = kPolicyGates});
  Testbed::Must(bed.Stop("controller-manager"));
  Testbed::Must(bed.SetGates("controller-manager", {{"DeploymentPodReplacementPolicy", false},
                                                    {"DeploymentReplicaSetTerminatingReplicas", false}}));
  EXPECT_FALSE(bed.IsRunning("controller-manager"));
  Testbed::Must(bed.Create("deployments", "default", TestDeployment(2, "i:1")));
  Testbed::Must(bed.Start("controller-manager"));
  bed.clock().RunUntilIdle(1min);
  EXPECT_TRUE(RolledOut(bed, 2, "i:1"));
  const Json deployment = DocumentOf(bed, "deployments", "web");
  EXPECT_EQ(api::Find(deployment, "status", "terminatingReplicas"), nullptr);
}

TEST(ControllerManager, DoesNothingWhileItIsDownAndEverythingWhenItIsBack) {
  Testbed bed;
  Testbed::Must(bed.Stop("controller-manager"));
  Testbed::Must(bed.Create("deployments", "default", TestDeployment(3, "i:1")));
  bed.clock().RunUntilIdle(1h);
  EXPECT_TRUE(bed.List("replicasets").empty());
  Testbed::Must(bed.Start("controller-manager"));
  EXPECT_TRUE(bed.Component("controller-manager").synced);
  bed.clock().RunUntilIdle(1min);
  EXPECT_TRUE(RolledOut(bed, 3, "i:1"));
}

TEST(ControllerManager, GatesSwitchedOffAndOnAgainChangeWhatItWrites) {
  Testbed bed({.feature_gates = kPolicyGates});
  Testbed::Must(bed.Create("deployments", "default", TestDeployment(2, "i:1")));
  bed.clock().RunUntilIdle(1min);
  const auto notified = [&] {
    const Json deployment = DocumentOf(bed, "deployments", "web");
    return api::Find(deployment, "status", "terminatingReplicas") != nullptr;
  };
  EXPECT_EQ(IntAt(DocumentOf(bed, "deployments", "web"), -1, "status", "terminatingReplicas"), 0);
  for (int round = 0; round < 2; ++round) {
    Testbed::Must(bed.SetGates("controller-manager", {{"DeploymentPodReplacementPolicy", false},
                                                      {"DeploymentReplicaSetTerminatingReplicas", false}}));
    bed.clock().RunUntilIdle(1min);
    EXPECT_FALSE(notified());
    Testbed::Must(bed.SetGates("controller-manager", {{"DeploymentPodReplacementPolicy", true},
                                                      {"DeploymentReplicaSetTerminatingReplicas", true}}));
    bed.clock().RunUntilIdle(1min);
    EXPECT_EQ(IntAt(DocumentOf(bed, "deployments", "web"), -1, "status", "terminatingReplicas"), 0);
  }
}

// The rollout is interrupted at every number of pods on its way.
TEST(ControllerManager, CrashedInTheMiddleOfARolloutItIsFinishedByTheNextOne) {
  for (int at = 1; at <= 6; ++at) {
    Testbed bed({.seed = static_cast<std::uint64_t>(at), .feature_gates = kPolicyGates});
    Testbed::Must(bed.Create("deployments", "default", TestDeployment(3, "i:1")));
    bed.clock().RunUntilIdle(1min);
    Testbed::Must(bed.Update("deployments", TestDeployment(3, "i:2")));
    const std::int64_t before = bed.control_plane().store().CurrentRevision();
    bed.clock().RunUntil([&] { return bed.control_plane().store().CurrentRevision() >= before + at * 4; },
                         1min);
    Testbed::Must(bed.Crash("controller-manager"));
    bed.clock().Advance(30s);
    EXPECT_FALSE(RolledOut(bed, 3, "i:2")) << at;
    Testbed::Must(bed.Start("controller-manager"));
    bed.clock().RunUntilIdle(5min);
    EXPECT_TRUE(RolledOut(bed, 3, "i:2")) << at;
  }
}

TEST(Scheduler, PodsWaitForItAndGetTheirNodeWhenItIsBack) {
  Testbed bed;
  Testbed::Must(bed.Crash("scheduler"));
  Testbed::Must(bed.Create("pods", "default", TestPod("web", Json::object())));
  bed.clock().RunUntilIdle(1h);
  EXPECT_EQ(PhaseOfPod(bed, "web"), "Pending");
  Testbed::Must(bed.Start("scheduler"));
  bed.clock().RunUntilIdle(1min);
  EXPECT_EQ(PhaseOfPod(bed, "web"), "Running");
}

TEST(Restarts, OneSeedGivesOneHistory) {
  const auto history = [](std::uint64_t seed) {
    Testbed bed({.seed = seed, .feature_gates = kPolicyGates});
    Testbed::Must(bed.Create("deployments", "default", TestDeployment(3, "i:1")));
    bed.clock().RunUntil([&] { return LivePods(bed) >= 1; }, 1min);
    for (const char* component : kAll) {
      Testbed::Must(bed.Crash(component));
      bed.clock().Advance(3s);
      Testbed::Must(bed.Start(component));
      bed.clock().Advance(3s);
    }
    bed.clock().RunUntilIdle(5min);
    EXPECT_TRUE(RolledOut(bed, 3, "i:1")) << seed;
    std::vector<std::string> texts;
    for (const char* resource : {"deployments", "replicasets", "pods", "events", "nodes", "leases"})
      for (const api::ObjectPtr& object : bed.List(resource)) texts.push_back(object->body());
    return texts;
  };
  for (std::uint64_t seed : {1, 2, 3}) EXPECT_EQ(history(seed), history(seed));
  EXPECT_NE(history(1), history(2));
}

}  // namespace
}  // namespace terrarium::testbed
