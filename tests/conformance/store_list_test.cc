#include <gtest/gtest.h>

#include "tests/conformance/store_conformance.h"

namespace terrarium::storage::testing {
namespace {

TERRARIUM_STORE_SUITE(StoreList);

TEST_P(StoreList, IsSortedByNamespaceThenName) {
  // "a-b" sorts behind "a" although '-' sorts before '/'.
  for (const char* name : {"y", "x", "x-1"})
    for (const char* ns : {"b", "a-b", "a"}) Create(ns, name);
  EXPECT_EQ(Show(MustList({.resource = kPods}).items, base_),
            "a/x=0@6 a/x-1=0@9 a/y=0@3 a-b/x=0@5 a-b/x-1=0@8 a-b/y=0@2 b/x=0@4 b/x-1=0@7 b/y=0@1");
}

TEST_P(StoreList, OfANamespaceHoldsOnlyIt) {
  Create("a", "x");
  Create("aa", "y");
  Create("b", "z");
  EXPECT_EQ(Show(MustList({.resource = kPods, .ns = "a"}).items, base_), "a/x=0@1");
  EXPECT_EQ(Show(MustList({.resource = kPods, .ns = "aaa"}).items, base_), "");
}

TEST_P(StoreList, OfAnUnknownResourceIsEmptyAtTheCurrentRevision) {
  Create("a", "x");
  Listing listing = MustList({.resource = "unknown"});
  EXPECT_TRUE(listing.items.empty());
  EXPECT_EQ(listing.revision, base_ + 1);
}

TEST_P(StoreList, ClusterScopedObjectsHaveNoNamespace) {
  Must(*store_, CreateWrite("", "n2", 0, "nodes"));
  Must(*store_, CreateWrite("", "n1", 0, "nodes"));
  EXPECT_EQ(Show(MustList({.resource = "nodes"}).items, base_), "n1=0@2 n2=0@1");
  Listing rest = MustList({.resource = "nodes", .start_after = "n1"});
  EXPECT_EQ(Show(rest.items, base_), "n2=0@1");
}

TEST_P(StoreList, AtAnOlderRevisionUndoesWhatCameAfter) {
  ObjectPtr x = Create("a", "x", 1);   // 1
  ObjectPtr y = Create("a", "y", 1);   // 2
  ObjectPtr x2 = Update(x, 2);         // 3
  Delete(y);                           // 4
  ObjectPtr y2 = Create("a", "y", 3);  // 5
  ObjectPtr z = Create("b", "z", 1);   // 6
  Update(y2, 4);                       // 7
  Delete(x2);                          // 8
  auto at = [&](std::int64_t revision) {
    Listing listing = MustList({.resource = kPods, .at_revision = base_ + revision});
    EXPECT_EQ(listing.revision, base_ + revision);
    return Show(listing.items, base_);
  };
  EXPECT_EQ(at(0), "");
  EXPECT_EQ(at(1), "a/x=1@1");
  EXPECT_EQ(at(2), "a/x=1@1 a/y=1@2");
  EXPECT_EQ(at(3), "a/x=2@3 a/y=1@2");
  EXPECT_EQ(at(4), "a/x=2@3");
  EXPECT_EQ(at(5), "a/x=2@3 a/y=3@5");
  EXPECT_EQ(at(6), "a/x=2@3 a/y=3@5 b/z=1@6");
  EXPECT_EQ(at(7), "a/x=2@3 a/y=4@7 b/z=1@6");
  EXPECT_EQ(at(8), "a/y=4@7 b/z=1@6");
  EXPECT_EQ(Show(MustList({.resource = kPods, .ns = "b", .at_revision = base_ + 7}).items, base_), "b/z=1@6");
}

TEST_P(StoreList, OfTheFutureIsTheNewest) {
  Create("a", "x");
  Listing listing = MustList({.resource = kPods, .at_revision = base_ + 100});
  EXPECT_EQ(listing.items.size(), 1u);
  EXPECT_EQ(listing.revision, base_ + 1);
}

// Reads a list page by page while everything changes between the pages: the pages together are the list at
// the revision of the first one.
TEST_P(StoreList, PagesAreConsistentWhileObjectsChange) {
  std::vector<ObjectPtr> objects;
  for (int i = 0; i < 50; ++i)
    objects.push_back(Create(i % 3 == 0 ? "a" : "b", "x" + std::to_string(100 + i), i));
  Listing whole = MustList({.resource = kPods});

  std::vector<ObjectPtr> paged;
  std::string start_after;
  for (int page = 0;; ++page) {
    Listing listing =
        MustList({.resource = kPods, .at_revision = whole.revision, .start_after = start_after, .limit = 7});
    EXPECT_EQ(listing.revision, whole.revision);
    paged.insert(paged.end(), listing.items.begin(), listing.items.end());
    EXPECT_EQ(listing.remaining, whole.items.size() - paged.size());
    if (listing.remaining == 0) break;
    const auto& last = listing.items.back()->header();
    start_after = last.ns + "/" + last.name;
    // Changes before, at and after the position, deletions of the last object read, and new objects on both
    // sides.
    Create("a", "new" + std::to_string(page));
    Create("b", "x" + std::to_string(page));
    Create("c", "x" + std::to_string(page));
    for (int i = page; i < 50; i += 9)
      if (ObjectPtr now = store_->Get({kPods, objects[i]->header().ns, objects[i]->header().name}))
        Update(now, -1);
    if (ObjectPtr now = store_->Get({kPods, last.ns, last.name})) Delete(now);
  }
  EXPECT_EQ(Show(paged, base_), Show(whole.items, base_));
}

TEST_P(StoreList, PagesOfOneNamespaceStopAtItsEnd) {
  for (const char* name : {"1", "2", "3"}) {
    Create("a", name);
    Create("b", name);
  }
  Listing page = MustList({.resource = kPods, .ns = "a", .limit = 2});
  EXPECT_EQ(Show(page.items, base_), "a/1=0@1 a/2=0@3");
  EXPECT_EQ(page.remaining, 1u);
  page = MustList({.resource = kPods, .ns = "a", .start_after = "a/2", .limit = 2});
  EXPECT_EQ(Show(page.items, base_), "a/3=0@5");
  EXPECT_EQ(page.remaining, 0u);
  page = MustList({.resource = kPods, .ns = "a", .start_after = "b/1"});
  EXPECT_EQ(Show(page.items, base_), "");
  page = MustList({.resource = kPods, .ns = "b", .start_after = "a/2"});
  EXPECT_EQ(page.items.size(), 3u);
}

TEST_P(StoreList, OlderThanTheCompactedRevisionIsExpired) {
  ObjectPtr x = Create("a", "x", 1);
  ObjectPtr x2 = Update(x, 2);
  Update(x2, 3);
  store_->Compact(base_ + 2);
  EXPECT_EQ(store_->CompactedRevision(), base_ + 2);
  api::Result<Listing> old = store_->List({.resource = kPods, .at_revision = base_ + 1});
  ASSERT_FALSE(old.ok());
  EXPECT_TRUE(old.status().Is(api::reason::kExpired));
  EXPECT_EQ(old.status().code, 410);
  EXPECT_EQ(Show(MustList({.resource = kPods, .at_revision = base_ + 2}).items, base_), "a/x=2@2");
  EXPECT_EQ(Show(MustList({.resource = kPods}).items, base_), "a/x=3@3");
}

TEST_P(StoreList, CompactionIsClampedAndNeverGoesBack) {
  Create("a", "x");
  Create("a", "y");
  store_->Compact(base_ + 50);
  EXPECT_EQ(store_->CompactedRevision(), base_ + 2);
  store_->Compact(base_ + 1);
  EXPECT_EQ(store_->CompactedRevision(), base_ + 2);
  EXPECT_EQ(store_->CurrentRevision(), base_ + 2);
  EXPECT_EQ(store_->Count(kPods), 2u);
}

TEST_P(StoreList, HistoryIsBoundedByTheNumberOfEvents) {
  Open({.events_max = 20, .events_min = 5});
  ObjectPtr x = Create("a", "x");
  for (int i = 1; i < 100; ++i) x = Update(x, i);
  EXPECT_EQ(store_->CompactedRevision(), store_->CurrentRevision() - 20);
  EXPECT_TRUE(store_->List({.resource = kPods, .at_revision = base_ + 80}).ok());
  EXPECT_FALSE(store_->List({.resource = kPods, .at_revision = base_ + 79}).ok());
}

TEST_P(StoreList, HistoryIsBoundedByBytesButKeepsTheNewestEvents) {
  Open({.events_max = 1000, .bytes_max = 1, .events_min = 5});
  ObjectPtr x = Create("a", "x");
  for (int i = 1; i < 50; ++i) x = Update(x, i);
  EXPECT_EQ(store_->CompactedRevision(), store_->CurrentRevision() - 5);
}

}  // namespace
}  // namespace terrarium::storage::testing
