// Feature gates that are switched while Deployments exist.

#include <chrono>
#include <map>

#include <gtest/gtest.h>

#include "controllers/deployment/internal/annotations.h"
#include "tests/controllers/deployment/deployment_alone.h"

namespace terrarium::controllers::deployment {
namespace {

using DeploymentGates = DeploymentAlone;

// KEP-3973, unit: feature gate enablement and disablement; integration:
// TestTerminatingReplicasDeploymentStatus.
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

// A ReplicaSet whose controller has not observed its current size may have pods that are not counted yet.
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

// KEP-5882: the annotation exists while a scale is incomplete, and means nothing else.
TEST_F(DeploymentGates, AMalformedBeforeScaleAnnotationIsRemoved) {
  RunOne(3);
  const Json whole = Set()["metadata"]["annotations"];
  for (const char* value : {"-3", "many", "", "+4", "99999999999"}) {
    Json set = Set();
    set["metadata"]["annotations"][std::string(kReplicasBeforeScale)] = value;
    client_.Put("replicasets", std::move(set));
    runtime_.RunReady();
    EXPECT_EQ(Set()["metadata"]["annotations"], whole) << value;
    EXPECT_EQ(Set()["spec"]["replicas"], 3);
  }
}

// KEP-5882, version skew: an apiserver whose gates are off drops terminatingReplicas. An absent field means
// unknown, not 0.
class UnreportedPods : public DeploymentAlone {
 protected:
  UnreportedPods() {
    runtime_.gates() = *runtime_.gates().With("DeploymentPodReplacementPolicy=true");
    Json deployment = Deployment(3);
    deployment["spec"]["podReplacementPolicy"] = "TerminationComplete";
    Put(std::move(deployment));
  }
  // All pods that the only ReplicaSet asks for exist.
  void Report() {
    Json set = Set();
    const Json replicas = set["spec"]["replicas"];
    set["metadata"]["generation"] = 1;
    set["status"] = {{"replicas", replicas},
                     {"readyReplicas", replicas},
                     {"availableReplicas", replicas},
                     {"observedGeneration", 1}};
    client_.Put("replicasets", std::move(set));
    runtime_.RunReady();
  }
  void PutPod(const std::string& name, bool terminating) {
    const Json set = Set();
    const Json owner = {{"apiVersion", "apps/v1"},
                        {"kind", "ReplicaSet"},
                        {"name", set["metadata"]["name"]},
                        {"uid", set["metadata"]["uid"]},
                        {"controller", true}};
    Json metadata = {{"name", name}, {"namespace", "default"}, {"ownerReferences", Json::array({owner})}};
    if (terminating) metadata["deletionTimestamp"] = "2026-01-01T00:01:00Z";
    client_.Put("pods", {{"metadata", std::move(metadata)}, {"status", {{"phase", "Running"}}}});
    runtime_.RunReady();
  }
  void RemovePod(const std::string& name) {
    client_.Remove("pods", {"default", name});
    runtime_.RunReady();
  }
  std::int64_t Size() { return Set()["spec"]["replicas"].get<std::int64_t>(); }
};

TEST_F(UnreportedPods, TakeUpRoomUntilTheyHaveGone) {
  Report();
  for (const char* pod : {"x", "y", "z"}) PutPod(pod, true);
  SetSpec("replicas", 6);
  EXPECT_EQ(Size(), 4) << "4 and 3 that go are 6 + 1";
  Report();
  EXPECT_EQ(Size(), 4);
  RemovePod("x");
  EXPECT_EQ(Size(), 5) << "no status shows the room; the end of the pod does";
  Report();
  RemovePod("y");
  EXPECT_EQ(Size(), 6);
  EXPECT_FALSE(Status().contains("terminatingReplicas"));
}

TEST_F(UnreportedPods, KeepARolloutFromBeingCompleteAndAreProgressWhenTheyGo) {
  PutPod("x", true);
  PutPod("y", true);
  Report();
  EXPECT_NE(Reason(), "NewReplicaSetAvailable") << Status();
  runtime_.Advance(std::chrono::seconds(599));
  RemovePod("x");
  runtime_.Advance(std::chrono::seconds(599));
  EXPECT_EQ(Reason(), "ReplicaSetUpdated") << "the deadline was reset";
  RemovePod("y");
  EXPECT_EQ(Reason(), "NewReplicaSetAvailable");
}

}  // namespace
}  // namespace terrarium::controllers::deployment
