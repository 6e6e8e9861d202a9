// Feature gates that are switched while Deployments are there.

#include <gtest/gtest.h>

#include <map>

#include "tests/controllers/deployment/deployment_alone.h"

namespace terrarium::controllers::deployment {
namespace {

using DeploymentGates = DeploymentAlone;

// KEP-3973, unit: feature gate enablement and disablement; integration: TestTerminatingReplicasDeploymentStatus.
TEST_F(DeploymentGates, TheTerminatingReplicasComeAndGoWithTheirGate) {
  auto set_gate = [this](bool on) {
    const std::map<std::string, bool> gates = {{"DeploymentReplicaSetTerminatingReplicas", on}};
    runtime_.gates() = *runtime_.gates().With(gates);
  };
  set_gate(false);
  RunOne(3);
  ReportAll(Set(), {{"terminatingReplicas", 1}});
  EXPECT_FALSE(Status().contains("terminatingReplicas"));
  set_gate(true);
  ReportAll(Set(), {{"terminatingReplicas", 2}});
  EXPECT_EQ(Status()["terminatingReplicas"], 2);
  set_gate(false);
  ReportAll(Set(), {{"terminatingReplicas", 3}});
  EXPECT_FALSE(Status().contains("terminatingReplicas")) << "absent, not 0";
  set_gate(true);
  ReportAll(Set(), {{"terminatingReplicas", 3}});
  EXPECT_EQ(Status()["terminatingReplicas"], 3);
}

// KEP-3973, unit: the policy switched off and on again with its gate, in mid-scale.
TEST_F(DeploymentGates, ThePolicyComesAndGoesWithItsGate) {
  auto set_gate = [this](bool on) {
    const std::map<std::string, bool> gates = {{"DeploymentPodReplacementPolicy", on}};
    runtime_.gates() = *runtime_.gates().With(gates);
  };
  set_gate(true);
  RunOne(3);
  SetSpec("podReplacementPolicy", "TerminationComplete");
  ReportAll(Set(), {{"terminatingReplicas", 3}});
  SetSpec("replicas", 6);
  EXPECT_EQ(Set()["spec"]["replicas"], 4) << "4 and 3 that go are 6 + 1";
  set_gate(false);
  ReportAll(Set(), {{"terminatingReplicas", 3}});
  EXPECT_EQ(Set()["spec"]["replicas"], 6) << "as if the policy were absent";
  set_gate(true);
  ReportAll(Set(), {{"terminatingReplicas", 3}});
  SetSpec("replicas", 9);
  EXPECT_EQ(Set()["spec"]["replicas"], 7);
}

// A set whose controller has not seen its present size may have pods that nobody has counted.
TEST_F(DeploymentGates, AStatusThatIsNotCurrentLeavesNoRoom) {
  runtime_.gates() = *runtime_.gates().With("DeploymentPodReplacementPolicy=true");
  RunOne(3);
  SetSpec("podReplacementPolicy", "TerminationComplete");
  Json set = Set();
  set["metadata"]["generation"] = 2;
  client_.Put("replicasets", set);
  runtime_.RunReady();
  SetSpec("replicas", 5);
  EXPECT_EQ(Set()["spec"]["replicas"], 3);
  ReportAll(Set());
  EXPECT_EQ(Set()["spec"]["replicas"], 5);
}

}  // namespace
}  // namespace terrarium::controllers::deployment
