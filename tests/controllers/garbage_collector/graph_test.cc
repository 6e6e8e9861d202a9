#include "controllers/garbage_collector/internal/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::controllers::garbage_collector {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Records the requests of the graph: "delete u1", "later u1", "orphan u1", "namespace u1 -> o1".
class GraphTest : public testing::Test, public Graph::Effects {
 protected:
  void ToDelete(const std::string& uid) override { asked_.push_back("delete " + uid); }
  void ToDeleteLater(const std::string& uid) override { asked_.push_back("later " + uid); }
  void ToOrphan(const std::string& uid) override { asked_.push_back("orphan " + uid); }
  void InvalidNamespace(const Node& dependent, const OwnerReference& owner) override {
    asked_.push_back("namespace " + dependent.identity.uid + " -> " + owner.uid);
  }

  // The requests since the last call.
  std::vector<std::string> Asked() { return std::exchange(asked_, {}); }

  // Objects are named by their uid. Owners are ReplicaSets, all others are Pods.
  static Identity Pod(const std::string& uid, const std::string& ns = "default") {
    return {"Pod", "v1", ns, "pod-" + uid, uid};
  }
  static Identity Owner(const std::string& uid, const std::string& ns = "default") {
    return {"ReplicaSet", "apps/v1", ns, "rs-" + uid, uid};
  }
  static OwnerReference To(const Identity& owner, bool block = false) {
    return {owner.api_version, owner.kind, owner.name, owner.uid, false, block};
  }
  static Ownership OwnedBy(std::vector<OwnerReference> owners) { return {std::move(owners), {}}; }
  static DeletionMarks Foreground() { return {.deleting = true, .orphan = false, .foreground = true}; }
  static DeletionMarks Orphan() { return {.deleting = true, .orphan = true, .foreground = false}; }

  Graph graph_{*this};

 private:
  std::vector<std::string> asked_;
};

TEST_F(GraphTest, AnObjectWithoutOwnersAsksForNothing) {
  graph_.Observed(Pod("p"), {});
  graph_.Removed(Pod("p"));
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_EQ(graph_.size(), 0u);
}

TEST_F(GraphTest, DependentsOfADeletedOwnerAreEnqueued) {
  graph_.Observed(Owner("o"), {});
  graph_.Observed(Pod("p1"), OwnedBy({To(Owner("o"))}));
  graph_.Observed(Pod("p2"), OwnedBy({To(Owner("o"))}));
  EXPECT_THAT(Asked(), IsEmpty());
  graph_.Removed(Owner("o"));
  EXPECT_THAT(Asked(), ElementsAre("delete p1", "delete p2"));
  EXPECT_TRUE(graph_.absent_owners().Has(Owner("o")));
}

TEST_F(GraphTest, AnUnseenOwnerIsRequested) {
  graph_.Observed(Pod("p"), OwnedBy({To(Owner("o"))}));
  EXPECT_THAT(Asked(), ElementsAre("delete o"));
  EXPECT_FALSE(graph_.Find("o")->observed);
  graph_.Observed(Owner("o"), {});
  EXPECT_TRUE(graph_.Find("o")->observed);
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(GraphTest, DependentsOfAMissingOwnerAreEnqueued) {
  graph_.Observed(Pod("p"), OwnedBy({To(Owner("o"))}));
  Asked();
  graph_.FoundAbsent(Owner("o"));
  EXPECT_THAT(Asked(), ElementsAre("delete p"));
  EXPECT_EQ(graph_.Find("o"), nullptr);
  EXPECT_TRUE(graph_.absent_owners().Has(Owner("o")));
}

TEST_F(GraphTest, AnUnseenOwnerIsForgottenWithItsLastDependent) {
  graph_.Observed(Pod("p"), OwnedBy({To(Owner("o"))}));
  graph_.Removed(Pod("p"));
  EXPECT_EQ(graph_.size(), 0u);
}

TEST_F(GraphTest, ForegroundDeletionEnqueuesAllDependentsAndThenTheOwner) {
  graph_.Observed(Owner("o"), {});
  graph_.Observed(Pod("p1"), OwnedBy({To(Owner("o"), true)}));
  graph_.Observed(Pod("p2"), OwnedBy({To(Owner("o"), false)}));
  Asked();
  DeletionMarks before;
  graph_.Observed(Owner("o"), {{}, Foreground()}, &before);
  EXPECT_THAT(Asked(), ElementsAre("delete p1", "delete p2", "delete o"));
  EXPECT_TRUE(graph_.Find("o")->deleting_dependents);
  EXPECT_EQ(graph_.Find("o")->dependents().blocking.size(), 1u);

  // Repeated: no new request.
  DeletionMarks again = Foreground();
  graph_.Observed(Owner("o"), {{}, Foreground()}, &again);
  EXPECT_THAT(Asked(), IsEmpty());

  graph_.Removed(Pod("p1"));
  EXPECT_THAT(Asked(), ElementsAre("delete o"));
  EXPECT_TRUE(graph_.Find("o")->dependents().blocking.empty());
}

TEST_F(GraphTest, ADeletionThatIsSeenFirstCountsAsStarted) {
  graph_.Observed(Owner("o"), {{}, Foreground()});
  EXPECT_THAT(Asked(), ElementsAre("delete o"));
  graph_.Observed(Owner("q"), {{}, Orphan()});
  EXPECT_THAT(Asked(), ElementsAre("orphan q"));
}

TEST_F(GraphTest, OrphaningComesBeforeForegroundDeletion) {
  DeletionMarks both{.deleting = true, .orphan = true, .foreground = true};
  graph_.Observed(Owner("o"), {{}, both});
  EXPECT_THAT(Asked(), ElementsAre("orphan o"));
}

TEST_F(GraphTest, ADependentBeingDeletedStillBlocksButIsNotEnqueued) {
  graph_.Observed(Owner("o"), {});
  graph_.Observed(Pod("p"), OwnedBy({To(Owner("o"), true)}));
  EXPECT_EQ(graph_.Find("o")->dependents().blocking_and_kept.size(), 1u);
  graph_.DeleteAccepted("p");
  EXPECT_EQ(graph_.Find("o")->dependents().blocking_and_kept.size(), 0u);
  EXPECT_EQ(graph_.Find("o")->dependents().blocking.size(), 1u);
}

TEST_F(GraphTest, AnUnseenOwnerIsRequestedUntilItsAbsenceIsCertain) {
  graph_.Observed(Pod("p"), OwnedBy({To(Owner("o"))}));
  graph_.DeleteAccepted("o");
  EXPECT_FALSE(graph_.Find("o")->being_deleted);
}

TEST_F(GraphTest, AnOwnerThatIsNoLongerBlockedIsEnqueued) {
  graph_.Observed(Owner("o"), {});
  graph_.Observed(Pod("p"), OwnedBy({To(Owner("o"), true)}));
  Asked();
  graph_.Observed(Pod("p"), OwnedBy({To(Owner("o"), false)}));
  EXPECT_THAT(Asked(), ElementsAre("delete o"));
  EXPECT_TRUE(graph_.Find("o")->dependents().blocking.empty());
  EXPECT_EQ(graph_.Find("o")->dependents().all.size(), 1u);

  graph_.Observed(Pod("p"), OwnedBy({To(Owner("o"), true)}));
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_EQ(graph_.Find("o")->dependents().blocking.size(), 1u);
  graph_.Observed(Pod("p"), {});
  EXPECT_THAT(Asked(), ElementsAre("delete o"));
  EXPECT_TRUE(graph_.Find("o")->dependents().all.empty());
}

TEST_F(GraphTest, AnAdoptedObjectFollowsItsNewOwner) {
  graph_.Observed(Owner("o1"), {});
  graph_.Observed(Owner("o2"), {});
  graph_.Observed(Pod("p"), OwnedBy({To(Owner("o1"))}));
  graph_.Observed(Pod("p"), OwnedBy({To(Owner("o2"))}));
  graph_.Removed(Owner("o1"));
  EXPECT_THAT(Asked(), IsEmpty());
  graph_.Removed(Owner("o2"));
  EXPECT_THAT(Asked(), ElementsAre("delete p"));
}

TEST_F(GraphTest, AnOwnerInAnotherNamespaceIsReportedWhicheverIsSeenFirst) {
  graph_.Observed(Owner("o", "a"), {});
  graph_.Observed(Pod("p", "b"), OwnedBy({To(Owner("o"))}));
  EXPECT_THAT(Asked(), ElementsAre("namespace p -> o", "delete p"));

  graph_.Observed(Pod("q", "b"), OwnedBy({To(Owner("u"))}));
  EXPECT_THAT(Asked(), ElementsAre("delete u"));
  graph_.Observed(Owner("u", "a"), {});
  EXPECT_THAT(Asked(), ElementsAre("namespace q -> u", "delete q"));
}

TEST_F(GraphTest, AReferenceWithAnotherNameForAKnownUidIsEnqueued) {
  graph_.Observed(Owner("o"), {});
  OwnerReference wrong = To(Owner("o"));
  wrong.name = "somebody-else";
  graph_.Observed(Pod("p"), OwnedBy({wrong}));
  EXPECT_THAT(Asked(), ElementsAre("delete p"));
}

TEST_F(GraphTest, AnOwnerNotFoundUnderOneNameIsRequestedUnderTheOther) {
  OwnerReference other = To(Owner("o"));
  other.name = "rs-z";
  graph_.Observed(Pod("p1"), OwnedBy({To(Owner("o"))}));
  graph_.Observed(Pod("p2"), OwnedBy({other}));
  EXPECT_THAT(Asked(), ElementsAre("delete o", "delete p2"));
  graph_.FoundAbsent(Owner("o"));
  EXPECT_THAT(Asked(), ElementsAre("delete p1", "later o"));
  EXPECT_EQ(graph_.Find("o")->identity.name, "rs-z");

  Identity found = Owner("o");
  found.name = "rs-z";
  graph_.Observed(found, {});
  EXPECT_TRUE(graph_.Find("o")->observed);
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(GraphTest, AnObservedOwnerStaysWhenItIsMissedElsewhere) {
  graph_.Observed(Owner("o", "a"), {});
  graph_.Observed(Pod("p", "b"), OwnedBy({To(Owner("o"))}));
  Asked();
  graph_.FoundAbsent(Owner("o", "b"));
  EXPECT_THAT(Asked(), ElementsAre("delete p"));
  EXPECT_NE(graph_.Find("o"), nullptr);
  graph_.FoundAbsent(Owner("o", "a"));
  EXPECT_EQ(graph_.Find("o"), nullptr);
}

TEST_F(GraphTest, CyclesOfOwnersLeaveNothingInTheGraph) {
  graph_.Observed(Owner("a"), OwnedBy({To(Owner("b"))}));
  graph_.Observed(Owner("b"), OwnedBy({To(Owner("a"))}));
  graph_.Observed(Owner("c"), OwnedBy({To(Owner("c"))}));
  Asked();
  graph_.Removed(Owner("c"));
  EXPECT_THAT(Asked(), ElementsAre("delete c"));
  graph_.Removed(Owner("a"));
  EXPECT_THAT(Asked(), ElementsAre("delete b"));
  graph_.Removed(Owner("b"));
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_EQ(graph_.size(), 0u);
}

TEST_F(GraphTest, AlternativesFollowTheAbsentOneInOrderAndThenStartOver) {
  auto dependent = [](const std::string& owner_name) {
    Node node;
    node.identity = Pod("p");
    OwnerReference reference = To(Owner("o"));
    reference.name = owner_name;
    node.owners = {reference};
    return node;
  };
  Node b = dependent("b");
  Node d = dependent("d");
  auto at = [](const std::string& name) {
    Identity identity = Owner("o");
    identity.name = name;
    return identity;
  };
  EXPECT_EQ(AlternateIdentity({&b, &d}, at("a")), at("b"));
  EXPECT_EQ(AlternateIdentity({&b, &d}, at("c")), at("d"));
  EXPECT_EQ(AlternateIdentity({&b, &d}, at("d")), at("b"));
  EXPECT_EQ(AlternateIdentity({&d}, at("d")), std::nullopt);
}

}  // namespace
}  // namespace terrarium::controllers::garbage_collector
