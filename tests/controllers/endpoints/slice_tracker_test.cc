#include "controllers/endpoints/internal/slice_tracker.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::endpoints {
namespace {

const api::ObjectName kWeb{"default", "web"};

SlicePtr SliceOf(const char* uid, std::int64_t generation) {
  auto slice = std::make_shared<Slice>();
  slice->uid = uid;
  slice->generation = generation;
  return slice;
}

TEST(SliceTracker, AViewWithoutOwnWritesIsStale) {
  SliceTracker tracker;
  EXPECT_FALSE(tracker.IsStale(kWeb, {}));
  tracker.Written(kWeb, "a", 2);
  EXPECT_TRUE(tracker.IsStale(kWeb, {}));
  EXPECT_TRUE(tracker.IsStale(kWeb, {SliceOf("a", 1)}));
  EXPECT_FALSE(tracker.IsStale(kWeb, {SliceOf("a", 2)}));
  EXPECT_FALSE(tracker.IsStale(kWeb, {SliceOf("a", 3), SliceOf("b", 1)}));
  tracker.ExpectDeletion(kWeb, "a");
  EXPECT_TRUE(tracker.IsStale(kWeb, {SliceOf("a", 2)}));
  EXPECT_FALSE(tracker.IsStale(kWeb, {}));
}

TEST(SliceTracker, ForeignChangesAreNewerThanOwnOnes) {
  SliceTracker tracker;
  EXPECT_TRUE(tracker.IsForeign(kWeb, "a", 1));
  tracker.Written(kWeb, "a", 2);
  EXPECT_FALSE(tracker.IsForeign(kWeb, "a", 2));
  EXPECT_TRUE(tracker.IsForeign(kWeb, "a", 3));
}

TEST(SliceTracker, OnlyExpectedDeletionsAreItsOwn) {
  SliceTracker tracker;
  tracker.Written(kWeb, "a", 1);
  tracker.Written(kWeb, "b", 1);
  tracker.ExpectDeletion(kWeb, "a");
  EXPECT_TRUE(tracker.Deleted(kWeb, "a"));
  EXPECT_FALSE(tracker.Deleted(kWeb, "b"));
  EXPECT_FALSE(tracker.Has(kWeb, "b"));
}

}  // namespace
}  // namespace terrarium::controllers::endpoints
