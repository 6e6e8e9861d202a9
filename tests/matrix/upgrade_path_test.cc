// KEP-3973 (current text), "Were upgrade and rollback tested? Was the upgrade->downgrade->upgrade path
// tested?", step by step. A release without the feature is a release with its gate off.

#include <chrono>

#include <gtest/gtest.h>

#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::matrix {
namespace {

using api::Json;
using controllers::deployment::PolicyCase;
using controllers::deployment::WebCluster;
using namespace std::chrono_literals;

class UpgradePath : public testing::Test {
 protected:
  // The apiserver is upgraded first and downgraded last.
  void Upgrade() {
    SetGate("apiserver", true);
    SetGate("controller-manager", true);
  }
  void Downgrade() {
    SetGate("controller-manager", false);
    SetGate("apiserver", false);
  }
  void SetGate(const std::string& component, bool on) {
    cluster_.bed().Must(
        cluster_.bed().SetGates(component, {{"DeploymentReplicaSetTerminatingReplicas", on}}));
    cluster_.Advance(5s);
  }

  // The fields of the Deployment and of its ReplicaSets: "-" if absent.
  std::string Fields() {
    auto text = [](const Json& object) {
      const Json status = object.value("status", Json::object());
      return status.contains("terminatingReplicas") ? status["terminatingReplicas"].dump() : std::string("-");
    };
    std::string fields = text(cluster_.Document());
    for (const Json& set : cluster_.Sets()) fields += " " + text(set);
    return fields;
  }

  WebCluster cluster_{PolicyCase{.name = "1.34", .policy_gate = false, .terminating_gate = false}};
};

TEST_F(UpgradePath, TerminatingReplicasComeGoAndComeAgainWithTheRelease) {
  // 1. Create a cluster in 1.34.
  // 2. Create a Deployment and observe that the fields are missing in both the ReplicaSet and the Deployment.
  cluster_.Create(3, {}, {{"hold", "terminating"}});
  cluster_.RunToTheEnd();
  EXPECT_EQ(Fields(), "- -");
  // 3. Upgrade to 1.35.
  Upgrade();
  // 4. Trigger a new Deployment rollout and observe that the fields are being properly reconciled.
  cluster_.SetImage("web:2");
  cluster_.Advance(5s);
  EXPECT_EQ(Fields(), "3 3 0");
  cluster_.ReleaseTerminating(1);
  cluster_.Advance(5s);
  EXPECT_EQ(Fields(), "1 1 0");
  // 5. Downgrade to 1.34.
  Downgrade();
  // 6. Observe that the fields are missing in both the ReplicaSet and the Deployment.
  EXPECT_EQ(Fields(), "- - -");
  EXPECT_EQ(cluster_.Terminating(), 1) << "though a pod is terminating";
  // 7. Upgrade to 1.35.
  Upgrade();
  EXPECT_EQ(Fields(), "1 1 0");
  // 8. Trigger a new Deployment rollout and observe that the fields are being properly reconciled.
  cluster_.SetImage("web:3");
  cluster_.Advance(5s);
  EXPECT_EQ(Fields(), "4 1 3 0");
  cluster_.ReleaseTerminating();
  cluster_.RunToTheEnd();
  EXPECT_EQ(Fields(), "0 0 0 0");
}

// "How does this feature react if the API server and/or etcd is unavailable?": it stops, and resumes from the
// same state.
TEST(ApiserverUnavailable, ARolloutStopsAndGoesOnWithinItsBounds) {
  WebCluster cluster(controllers::deployment::kTerminationComplete);
  cluster.Create(4, {{"strategy", {{"rollingUpdate", {{"maxSurge", 1}, {"maxUnavailable", 1}}}}}},
                 {{"stop-after", "20s"}});
  cluster.RunToTheEnd();
  cluster.peak().Restart();
  cluster.SetImage("web:2");
  cluster.Advance(5s);
  cluster.bed().Must(cluster.bed().Crash("apiserver"));
  cluster.Advance(10min);
  cluster.bed().Must(cluster.bed().Start("apiserver"));
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Sizes(), "0 4");
  EXPECT_TRUE(cluster.Complete());
  EXPECT_EQ(cluster.peak().Most(), 5);
}

}  // namespace
}  // namespace terrarium::matrix
