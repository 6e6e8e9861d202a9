#include "storage/internal/state.h"

#include <gtest/gtest.h>

#include "tests/storage/store_testing.h"

namespace terrarium::storage {
namespace {

using testing::kPods;
using testing::MakeObject;
using testing::Show;

std::deque<Change> One(EventType type, ObjectPtr object, ObjectPtr previous) {
  std::deque<Change> changes;
  changes.push_back({kPods, Event{type, std::move(object), std::move(previous)}});
  return changes;
}

TEST(State, ForgottenHistoryFreesTheObjectsThatOnlyItHeld) {
  State state({}, 1, 0);
  ObjectPtr first = MakeObject("a", "x", 1)->AtRevision(2);
  ObjectPtr second = MakeObject("a", "x", 2)->AtRevision(3);
  std::weak_ptr<const api::Object> old = first, current = second;
  state.Apply(One(EventType::kAdded, first, nullptr));
  state.Apply(One(EventType::kModified, second, first));
  first.reset();
  second.reset();
  EXPECT_FALSE(old.expired());
  state.Compact(3);
  EXPECT_TRUE(old.expired());
  EXPECT_FALSE(current.expired());
  EXPECT_EQ(state.HistoryEvents(), 0u);
  EXPECT_EQ(state.HistoryBytes(), 0u);
}

TEST(State, CountsTheBytesThatHistoryAloneKeepsAlive) {
  State state({}, 1, 0);
  ObjectPtr first = MakeObject("a", "x", 1)->AtRevision(2);
  ObjectPtr second = MakeObject("a", "x", 2)->AtRevision(3);
  state.Apply(One(EventType::kAdded, first, nullptr));
  std::size_t of_added = state.HistoryBytes();
  EXPECT_LT(of_added, first->body().size());
  state.Apply(One(EventType::kModified, second, first));
  std::size_t of_modified = state.HistoryBytes() - of_added;
  EXPECT_GT(of_modified, first->body().size());
  state.Apply(One(EventType::kDeleted, second->AtRevision(4), second));
  EXPECT_GT(state.HistoryBytes() - of_added - of_modified, 2 * second->body().size());
}

TEST(State, RestoredObjectsAreThereWithoutEvents) {
  State state({}, 10, 10);
  state.Restore(kPods, MakeObject("a", "y", 1)->AtRevision(4));
  state.Restore(kPods, MakeObject("a", "x", 1)->AtRevision(9));
  auto listing = state.List({.resource = kPods});
  ASSERT_TRUE(listing.ok());
  EXPECT_EQ(Show(listing->items), "a/x=1@9 a/y=1@4");
  EXPECT_EQ(listing->revision, 10);
  EXPECT_EQ(state.HistoryEvents(), 0u);
  EXPECT_FALSE(state.List({.resource = kPods, .at_revision = 9}).ok());
}

TEST(StateDeathTest, ChangesMustFollowTheRevisionWithoutAHole) {
  State state({}, 1, 0);
  EXPECT_DEATH(state.Apply(One(EventType::kAdded, MakeObject("a", "x")->AtRevision(3), nullptr)), "revision");
}

}  // namespace
}  // namespace terrarium::storage
