#include "controllers/deployment/internal/pod_counts.h"

#include <gtest/gtest.h>

#include "api/json.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;

struct PodState {
  std::string phase = "Running";
  bool deleting = false;
  std::string kind = "ReplicaSet";
};

// A pod controlled by the ReplicaSet "rs" with that uid. Without a uid the pod has no owner.
api::ObjectPtr Pod(const std::string& name, const std::string& uid, const PodState& state = {}) {
  Json metadata = {{"name", name}};
  if (!uid.empty())
    metadata["ownerReferences"] = {
        {{"kind", state.kind}, {"name", "rs"}, {"uid", uid}, {"controller", true}}};
  const Json document = {{"metadata", metadata}, {"status", {{"phase", state.phase}}}};
  api::ObjectHeader header = api::ReadHeader(document);
  header.ns = "default";
  header.name = name;
  header.deleting = state.deleting;
  return api::Object::Make(std::move(header), document);
}

class PodCountsTest : public testing::Test {
 protected:
  // The uid of the ReplicaSet that has lost a pod, with "!" for its last pod; otherwise empty.
  std::string Put(const api::ObjectPtr& pod) { return UidOf(counts_.Put(*pod)); }
  std::string Remove(const std::string& name) { return UidOf(counts_.Remove({"default", name})); }
  static std::string UidOf(const std::optional<PodCounts::Loss>& loss) {
    return loss ? loss->owner.uid + (loss->last ? "!" : "") : "";
  }
  std::string Of(const std::string& uid) {
    PodCounts::Counts counts = counts_.Of(uid);
    return std::to_string(counts.live) + "+" + std::to_string(counts.terminating);
  }
  PodCounts counts_;
};

TEST_F(PodCountsTest, PodsAreCountedForTheirOwner) {
  Put(Pod("a", "x"));
  Put(Pod("b", "x", {.deleting = true}));
  Put(Pod("c", "y"));
  Put(Pod("d", ""));
  Put(Pod("e", "z", {.kind = "Job"}));
  EXPECT_EQ(Of("x"), "1+1");
  EXPECT_EQ(Of("y"), "1+0");
  EXPECT_EQ(Of("z"), "0+0");
  Put(Pod("a", "x"));
  EXPECT_EQ(Of("x"), "1+1") << "the same pod again";
}

TEST_F(PodCountsTest, EndedPodsAreNotCounted) {
  Put(Pod("a", "x"));
  Put(Pod("b", "x"));
  Put(Pod("a", "x", {.phase = "Failed"}));
  EXPECT_EQ(Of("x"), "1+0");
  EXPECT_EQ(Put(Pod("b", "x", {.phase = "Succeeded", .deleting = true})), "x!");
  EXPECT_EQ(Of("x"), "0+0");
  EXPECT_EQ(Remove("b"), "") << "it was none already";
}

// TestPodDeletionEnqueuesRecreateDeployment and related tests of Kubernetes.
TEST_F(PodCountsTest, EveryLossIsReportedAndTheLastPodAndTheLastLiveOneAreMarked) {
  Put(Pod("a", "x"));
  Put(Pod("b", "x"));
  EXPECT_EQ(Put(Pod("a", "x")), "") << "nothing is lost";
  EXPECT_EQ(Put(Pod("a", "x", {.deleting = true})), "x");
  EXPECT_EQ(Put(Pod("a", "x", {.deleting = true})), "");
  EXPECT_EQ(Put(Pod("b", "x", {.deleting = true})), "x!") << "none is live";
  EXPECT_EQ(Remove("a"), "x");
  EXPECT_EQ(Remove("b"), "x!") << "none is left";
  EXPECT_EQ(Remove("b"), "");
}

TEST_F(PodCountsTest, APodThatIsAdoptedOrReleasedChangesSides) {
  Put(Pod("a", "x"));
  EXPECT_EQ(Put(Pod("a", "")), "x!");
  EXPECT_EQ(Of("x"), "0+0");
  EXPECT_EQ(Put(Pod("a", "y")), "");
  EXPECT_EQ(Of("y"), "1+0");
}

// The last state of a deleted pod may be one that the view has never contained.
TEST_F(PodCountsTest, WhatIsRemovedIsWhatWasCounted) {
  Put(Pod("a", "x"));
  EXPECT_EQ(Remove("a"), "x!");
  EXPECT_EQ(Of("x"), "0+0");
}

}  // namespace
}  // namespace terrarium::controllers::deployment
