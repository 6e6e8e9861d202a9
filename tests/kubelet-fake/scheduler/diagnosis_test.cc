#include "kubelet-fake/scheduler/internal/diagnosis.h"

#include <gtest/gtest.h>

namespace terrarium::kubelet_fake::scheduling {
namespace {

void Refuse(Diagnosis& why, int nodes, Reason reason, bool hopeless) {
  for (int i = 0; i < nodes; ++i) {
    why.Count(reason);
    why.NodeRefused(FilterName::kNodeResourcesFit, hopeless);
  }
}

TEST(Diagnosis, MatchesTheMessagesOfKubeScheduler) {
  Diagnosis why;
  Refuse(why, 1, Reason::kCpu, false);
  Refuse(why, 2, Reason::kUntoleratedTaint, true);
  EXPECT_EQ(why.Message(3, true),
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). preemption: "
            "0/3 nodes "
            "are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for "
            "scheduling.");
}

TEST(Diagnosis, PreemptionIsNotHelpfulWhereNoPodStandsInTheWay) {
  Diagnosis why;
  Refuse(why, 1, Reason::kMemory, true);
  EXPECT_EQ(why.Message(1, true),
            "0/1 nodes are available: 1 Insufficient memory. preemption: 0/1 nodes are available: 1 "
            "Preemption is not "
            "helpful for scheduling.");
}

TEST(Diagnosis, APodThatMayNotPreemptHasItsOwnMessage) {
  Diagnosis why;
  Refuse(why, 1, Reason::kTooManyPods, false);
  EXPECT_EQ(
      why.Message(1, false),
      "0/1 nodes are available: 1 Too many pods. preemption: not eligible due to preemptionPolicy=Never.");
}

TEST(Diagnosis, ReasonsAreSortedAsTexts) {
  Diagnosis why;
  Refuse(why, 2, Reason::kTooManyPods, false);
  Refuse(why, 10, Reason::kCpu, false);
  why.CountInsufficient("nvidia.com/gpu");
  EXPECT_EQ(why.Message(12, false).substr(0, 86),
            "0/12 nodes are available: 1 Insufficient nvidia.com/gpu, 10 Insufficient cpu, 2 Too ma");
}

TEST(Diagnosis, NodesThatAffinityDidNotNameHaveAReasonOfTheirOwn) {
  Diagnosis why;
  why.OnlyNamedNodesSeen(2);
  Refuse(why, 1, Reason::kTooManyPods, false);
  EXPECT_EQ(why.Message(3, true),
            "0/3 nodes are available: 1 Too many pods, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
            "preemption: "
            "0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not "
            "helpful for "
            "scheduling.");
}

TEST(Diagnosis, AContradictionIsNamedOnce) {
  Diagnosis why;
  why.AffinityConflict();
  EXPECT_EQ(why.Message(3, true),
            "0/3 nodes are available: pod affinity terms conflict. preemption: 0/3 nodes are available: 3 "
            "Preemption "
            "is not helpful for scheduling.");
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling
