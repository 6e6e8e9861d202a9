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
  EXPECT_EQ(why.Message(3),
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).");
  EXPECT_EQ(why.not_hopeless(), 1);
}

TEST(Diagnosis, ReasonsAreSortedAsTexts) {
  Diagnosis why;
  Refuse(why, 2, Reason::kTooManyPods, false);
  Refuse(why, 10, Reason::kCpu, false);
  why.CountInsufficient("nvidia.com/gpu");
  EXPECT_EQ(why.Message(12),
            "0/12 nodes are available: 1 Insufficient nvidia.com/gpu, 10 Insufficient cpu, 2 Too many pods.");
}

TEST(Diagnosis, NodesThatAffinityDidNotNameHaveAReasonOfTheirOwn) {
  Diagnosis why;
  why.OnlyNamedNodesSeen(2);
  Refuse(why, 1, Reason::kTooManyPods, false);
  EXPECT_EQ(why.Message(3),
            "0/3 nodes are available: 1 Too many pods, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].");
}

TEST(Diagnosis, AContradictionIsNamedOnce) {
  Diagnosis why;
  why.RejectEverywhere(FilterName::kNodeAffinity, "pod affinity terms conflict");
  EXPECT_EQ(why.Message(3), "0/3 nodes are available: pod affinity terms conflict.");
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling
