// "Status hides terminating pods; rollout done too early", k/k#110171 and kubectl#1628: a rollout is reported
// as complete 26 minutes before the last old pod has ended.

#include <string>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::scenarios {
namespace {

using api::Json;
using namespace std::chrono_literals;
using controllers::deployment::kNoPolicy;
using controllers::deployment::kTerminationComplete;
using controllers::deployment::PolicyCase;
using controllers::deployment::WebCluster;

// The gates at the time of the reports.
const PolicyCase kNoCounters{.name = "NoCounters", .policy_gate = false, .terminating_gate = false};

class SlowTermination {
 public:
  SlowTermination(const PolicyCase& policy, int replicas, int progress_deadline_seconds) : cluster_(policy) {
    const Json spec = {{"progressDeadlineSeconds", progress_deadline_seconds},
                       {"template", {{"spec", {{"terminationGracePeriodSeconds", 1800}}}}}};
    cluster_.Create(replicas, spec, {{"stop-after", "26m"}});
    cluster_.RunToTheEnd();
    cluster_.SetImage("web:2");
    cluster_.Settle();
    began_ = cluster_.bed().Now();
  }
  // Advances to that long after the start of the rollout.
  void To(api::Duration after) { cluster_.Advance(began_ + after - cluster_.bed().Now()); }
  WebCluster& web() { return cluster_; }

 private:
  WebCluster cluster_;
  api::Time began_;
};

TEST(EarlyCompletion, BeforeARolloutIsDoneWhileAnOldPodLivesOnFor26Minutes) {
  SlowTermination slow(kNoCounters, 1, 600);
  EXPECT_EQ(slow.web().Condition("Progressing"), "True NewReplicaSetAvailable");
  EXPECT_EQ(slow.web().Counter("replicas"), 1);
  EXPECT_FALSE(slow.web().Status().contains("terminatingReplicas")) << "the status does not show it";
  slow.To(26min - 1s);
  EXPECT_EQ(slow.web().Terminating(), 1);
  slow.To(26min);
  EXPECT_EQ(slow.web().Terminating(), 0);
}

// The counter alone, without the policy: the rollout completes as early as before, but the status shows the
// pod.
TEST(EarlyCompletion, WithTheCounterTheStatusCountsTheOldPod) {
  SlowTermination slow(kNoPolicy, 1, 600);
  EXPECT_EQ(slow.web().Condition("Progressing"), "True NewReplicaSetAvailable");
  EXPECT_EQ(slow.web().Status()["terminatingReplicas"], 1);
  slow.To(26min);
  EXPECT_EQ(slow.web().Status()["terminatingReplicas"], 0);
}

TEST(EarlyCompletion, AfterARolloutIsDoneWhenTheOldPodHasGone) {
  SlowTermination slow(kTerminationComplete, 1, 3600);
  WebCluster& cluster = slow.web();
  EXPECT_EQ(cluster.Counter("updatedReplicas"), 1);
  EXPECT_EQ(cluster.Counter("availableReplicas"), 1)
      << "there is a surge of one, so the new pod need not wait";
  EXPECT_EQ(cluster.Condition("Progressing"), "True ReplicaSetUpdated");
  EXPECT_EQ(cluster.Status()["terminatingReplicas"], 1);
  slow.To(26min - 1s);
  EXPECT_EQ(cluster.Condition("Progressing"), "True ReplicaSetUpdated");
  EXPECT_EQ(cluster.Status()["terminatingReplicas"], 1);
  slow.To(26min);
  EXPECT_EQ(cluster.Condition("Progressing"), "True NewReplicaSetAvailable");
  EXPECT_EQ(cluster.Status()["terminatingReplicas"], 0);
}

// Under TerminationComplete the deadline must be longer than the termination takes, since there is no
// progress meanwhile. The condition recovers when the pod ends.
TEST(EarlyCompletion, AfterADeadlineShorterThanTheTerminationPassesAndTheRolloutRecovers) {
  SlowTermination slow(kTerminationComplete, 1, 600);
  WebCluster& cluster = slow.web();
  slow.To(9min);
  EXPECT_EQ(cluster.Condition("Progressing"), "True ReplicaSetUpdated");
  slow.To(11min);
  EXPECT_EQ(cluster.Condition("Progressing"), "False ProgressDeadlineExceeded");
  slow.To(26min);
  EXPECT_EQ(cluster.Condition("Progressing"), "True NewReplicaSetAvailable");
}

// Pods that end one after the other are progress: each resets the deadline.
TEST(EarlyCompletion, AfterEveryPodThatGoesPutsTheDeadlineOff) {
  WebCluster cluster(kTerminationComplete);
  const Json spec = {{"progressDeadlineSeconds", 600},
                     {"strategy", {{"rollingUpdate", {{"maxSurge", "100%"}, {"maxUnavailable", 0}}}}},
                     {"template", {{"spec", {{"terminationGracePeriodSeconds", 1800}}}}}};
  cluster.Create(4, spec, {{"hold", "terminating"}});
  cluster.RunToTheEnd();
  cluster.SetImage("web:2", Json::object());
  for (int left = 4; left > 0; --left) {
    cluster.Advance(9min);
    EXPECT_EQ(cluster.Status()["terminatingReplicas"], left);
    EXPECT_EQ(cluster.Condition("Progressing"), "True ReplicaSetUpdated") << left << " pods are left";
    cluster.ReleaseTerminating(left - 1);
    cluster.Settle();
  }
  EXPECT_EQ(cluster.Condition("Progressing"), "True NewReplicaSetAvailable");
}

}  // namespace
}  // namespace terrarium::scenarios
