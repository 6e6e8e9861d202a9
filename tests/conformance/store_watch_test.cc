#include <atomic>
#include <future>
#include <memory>

#include <gtest/gtest.h>

#include "tests/conformance/store_conformance.h"

namespace terrarium::storage::testing {
namespace {

TERRARIUM_STORE_SUITE(StoreWatch);

TEST_P(StoreWatch, GivesWhatHappensAfterItsRevisionInOrder) {
  ObjectPtr x = Create("a", "x", 1);
  auto watch = MustWatch({.resource = kPods, .from_revision = x->revision()});
  EXPECT_TRUE(TakeAll(*watch).empty());
  ObjectPtr x2 = Update(x, 2);
  Create("b", "y", 1);
  Delete(x2);
  std::vector<Event> events = TakeAll(*watch);
  EXPECT_EQ(Show(events, base_), "~a/x=2@2 +b/y=1@3 -a/x=2@4");
  EXPECT_EQ(events[0].previous, x);
  EXPECT_EQ(events[1].previous, nullptr);
  EXPECT_EQ(events[2].previous, x2);
}

TEST_P(StoreWatch, ReplaysHistoryFirst) {
  ObjectPtr x = Create("a", "x", 1);
  Update(x, 2);
  Create("a", "y", 1);
  auto watch = MustWatch({.resource = kPods, .from_revision = base_ + 1});
  Create("a", "z", 1);
  EXPECT_EQ(Show(TakeAll(*watch), base_), "~a/x=2@2 +a/y=1@3 +a/z=1@4");
  EXPECT_TRUE(TakeAll(*watch).empty());
}

TEST_P(StoreWatch, SeesOnlyItsResourceNamespaceAndName) {
  auto all = MustWatch({.resource = kPods, .from_revision = base_});
  auto in_a = MustWatch({.resource = kPods, .ns = "a", .from_revision = base_});
  auto only_x = MustWatch({.resource = kPods, .ns = "a", .name = "x", .from_revision = base_});
  auto any_x = MustWatch({.resource = kPods, .name = "x", .from_revision = base_});
  Create("a", "x");
  Create("a", "y");
  Create("b", "x");
  Must(*store_, CreateWrite("a", "x", 0, "services"));
  const char* const expected[] = {"+a/x=0@1 +a/y=0@2 +b/x=0@3", "+a/x=0@1 +a/y=0@2", "+a/x=0@1",
                                  "+a/x=0@1 +b/x=0@3"};
  EXPECT_EQ(Show(TakeAll(*all), base_), expected[0]);
  EXPECT_EQ(Show(TakeAll(*in_a), base_), expected[1]);
  EXPECT_EQ(Show(TakeAll(*only_x), base_), expected[2]);
  EXPECT_EQ(Show(TakeAll(*any_x), base_), expected[3]);
  // A replay applies the same selection.
  EXPECT_EQ(Show(TakeAll(*MustWatch({.resource = kPods, .ns = "a", .from_revision = base_})), base_),
            expected[1]);
  EXPECT_EQ(Show(TakeAll(*MustWatch({.resource = kPods, .name = "x", .from_revision = base_})), base_),
            expected[3]);
}

TEST_P(StoreWatch, OfClusterScopedObjectsByName) {
  auto watch = MustWatch({.resource = "nodes", .name = "n1", .from_revision = base_});
  Must(*store_, CreateWrite("", "n1", 0, "nodes"));
  Must(*store_, CreateWrite("", "n2", 0, "nodes"));
  EXPECT_EQ(Show(TakeAll(*watch), base_), "+n1=0@1");
}

TEST_P(StoreWatch, TakeGivesAtMostMax) {
  auto watch = MustWatch({.resource = kPods, .from_revision = base_});
  for (int i = 0; i < 5; ++i) Create("a", "x" + std::to_string(i));
  std::vector<Event> events;
  EXPECT_EQ(watch->Take(2, events), Watch::State::kOpen);
  EXPECT_EQ(events.size(), 2u);
  watch->Take(2, events);
  watch->Take(2, events);
  EXPECT_EQ(Show(events, base_), "+a/x0=0@1 +a/x1=0@2 +a/x2=0@3 +a/x3=0@4 +a/x4=0@5");
}

TEST_P(StoreWatch, FromACompactedRevisionIsExpired) {
  Create("a", "x");
  Create("a", "y");
  Create("a", "z");
  store_->Compact(base_ + 2);
  auto old = store_->StartWatch({.resource = kPods, .from_revision = base_ + 1});
  ASSERT_FALSE(old.ok());
  EXPECT_TRUE(old.status().Is(api::reason::kExpired));
  auto watch = MustWatch({.resource = kPods, .from_revision = base_ + 2});
  EXPECT_EQ(Show(TakeAll(*watch), base_), "+a/z=0@3");
}

TEST_P(StoreWatch, ABusyResourceDoesNotExpireTheHistoryOfOthers) {
  Open({.events_max = 100, .events_min = 10});
  ObjectPtr pod = Create("a", "x", 1);
  ObjectPtr lease = Must(*store_, CreateWrite("a", "busy", 0, "leases"));
  for (int i = 0; i < 1'000; ++i) lease = Must(*store_, UpdateWrite(lease, i, "leases"));
  pod = Update(pod, 2);
  auto watch = MustWatch({.resource = kPods, .from_revision = base_});
  ASSERT_NE(watch, nullptr);
  EXPECT_EQ(Show(TakeAll(*watch), base_), "+a/x=1@1 ~a/x=2@1003");
  EXPECT_EQ(Show(MustList({.resource = kPods, .at_revision = base_ + 500}).items, base_), "a/x=1@1");
  EXPECT_TRUE(store_->StartWatch({.resource = "services", .from_revision = base_}).ok());
  EXPECT_FALSE(store_->StartWatch({.resource = "leases", .from_revision = base_ + 500}).ok());
  auto busy = MustWatch({.resource = "leases", .from_revision = store_->CompactedRevision()});
  EXPECT_EQ(TakeAll(*busy).size(), 98u);
}

TEST_P(StoreWatch, GoesOnAcrossACompaction) {
  auto watch = MustWatch({.resource = kPods, .from_revision = base_});
  Create("a", "x");
  store_->Compact(base_ + 1);
  Create("a", "y");
  EXPECT_EQ(Show(TakeAll(*watch), base_), "+a/x=0@1 +a/y=0@2");
}

TEST_P(StoreWatch, FromTheFutureSkipsWhatComesBefore) {
  Create("a", "x");
  auto wakes = std::make_shared<std::atomic<int>>(0);
  auto watch = MustWatch({.resource = kPods, .from_revision = base_ + 3, .buffer_events = 1});
  watch->SetWake([wakes] { ++*wakes; });
  Create("a", "y");
  Create("a", "z");
  EXPECT_EQ(*wakes, 0);
  EXPECT_GE(watch->DeliveredRevision(), base_ + 3);
  EXPECT_TRUE(TakeAll(*watch).empty());
  Create("a", "w");
  EXPECT_EQ(Show(TakeAll(*watch), base_), "+a/w=0@4");
}

TEST_P(StoreWatch, ListAndWatchLeavesNoGapAndRepeatsNothing) {
  ObjectPtr x = Create("a", "x", 1);
  Create("b", "y", 1);
  ListAndWatchResult both = store_->ListAndWatch({.resource = kPods, .ns = "a"});
  Update(x, 2);
  EXPECT_EQ(Show(both.listing.items, base_), "a/x=1@1");
  EXPECT_EQ(both.listing.revision, base_ + 2);
  EXPECT_EQ(Show(TakeAll(*both.watch), base_), "~a/x=2@3");
}

TEST_P(StoreWatch, ListAndWatchOfOneName) {
  Create("a", "x", 1);
  Create("a", "y", 1);
  Create("b", "x", 1);
  EXPECT_EQ(Show(store_->ListAndWatch({.resource = kPods, .ns = "a", .name = "x"}).listing.items, base_),
            "a/x=1@1");
  EXPECT_EQ(Show(store_->ListAndWatch({.resource = kPods, .name = "x"}).listing.items, base_),
            "a/x=1@1 b/x=1@3");
  EXPECT_EQ(Show(store_->ListAndWatch({.resource = kPods, .ns = "a", .name = "z"}).listing.items, base_), "");
}

TEST_P(StoreWatch, ASlowWatcherIsCutOffAndTheOthersAreNot) {
  auto slow = MustWatch({.resource = kPods, .from_revision = base_, .buffer_events = 3});
  auto wide = MustWatch({.resource = kPods, .from_revision = base_, .buffer_events = 100});
  auto quick = MustWatch({.resource = kPods, .from_revision = base_, .buffer_events = 3});
  std::vector<Event> seen;
  for (int i = 0; i < 10; ++i) {
    Create("a", "x" + std::to_string(i));
    EXPECT_EQ(quick->Take(10, seen), Watch::State::kOpen);
    if (i == 0) {
      EXPECT_EQ(TakeAll(*slow).size(), 1u);
    }
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(TakeAll(*wide).size(), 10u);

  std::vector<Event> late;
  EXPECT_EQ(slow->Take(2, late), Watch::State::kOverflow);
  EXPECT_EQ(slow->DeliveredRevision(), base_ + 1) << "it has missed events and may not promise them";
  Create("a", "y");
  EXPECT_EQ(slow->Take(2, late), Watch::State::kOverflow);
  EXPECT_TRUE(late.empty()) << "what was buffered is dropped";
  EXPECT_EQ(slow->DeliveredRevision(), base_ + 1);
}

TEST_P(StoreWatch, ALongReplayDoesNotOverflow) {
  for (int i = 0; i < 50; ++i) Create("a", "x" + std::to_string(i));
  auto watch = MustWatch({.resource = kPods, .from_revision = base_, .buffer_events = 3});
  Create("a", "y1");
  Create("a", "y2");
  Watch::State state{};
  EXPECT_EQ(TakeAll(*watch, &state).size(), 52u);
  EXPECT_EQ(state, Watch::State::kOpen);
}

TEST_P(StoreWatch, WakesOnceWhenSomethingComesAfterNothing) {
  auto wakes = std::make_shared<std::atomic<int>>(0);
  auto watch = MustWatch({.resource = kPods, .from_revision = base_});
  watch->SetWake([wakes] { ++*wakes; });
  EXPECT_EQ(*wakes, 0);
  Create("a", "x");
  Create("a", "y");
  // Wake-ups follow the acknowledgement, perhaps on another thread: the shutdown waits for them.
  TakeAll(*watch);
  Create("a", "z");
  store_->Shutdown();
  EXPECT_EQ(*wakes, 2);
}

TEST_P(StoreWatch, IsWokenBeforeTheWriteIsAnswered) {
  auto watch = MustWatch({.resource = kPods, .from_revision = base_});
  auto woken = std::make_shared<std::atomic<bool>>(false);
  watch->SetWake([woken] { *woken = true; });
  std::promise<bool> woken_when_answered;
  store_->Submit(CreateWrite("a", "x", 0), [&](WriteOutcome) { woken_when_answered.set_value(*woken); });
  EXPECT_TRUE(woken_when_answered.get_future().get());
}

TEST_P(StoreWatch, WakesImmediatelyWhenEventsArePending) {
  Create("a", "x");
  auto wakes = std::make_shared<std::atomic<int>>(0);
  auto replaying = MustWatch({.resource = kPods, .from_revision = base_});
  replaying->SetWake([wakes] { ++*wakes; });
  EXPECT_EQ(*wakes, 1);
  auto idle = MustWatch({.resource = kPods, .from_revision = base_ + 1});
  Create("a", "y");
  idle->SetWake([wakes] { ++*wakes; });
  EXPECT_EQ(*wakes, 2);
}

TEST_P(StoreWatch, DeliveredRevisionFollowsOtherWritesWhenIdleAndNeverPassesWhatIsPending) {
  auto watch = MustWatch({.resource = kPods, .ns = "a", .from_revision = base_});
  EXPECT_EQ(watch->DeliveredRevision(), base_);
  Create("b", "x");
  Must(*store_, CreateWrite("a", "x", 0, "services"));
  EXPECT_EQ(watch->DeliveredRevision(), base_ + 2) << "nothing for this watch: as far as the store";
  Create("a", "x");
  Create("a", "y");
  Create("b", "y");
  EXPECT_EQ(watch->DeliveredRevision(), base_ + 2);
  std::vector<Event> events;
  watch->Take(1, events);
  EXPECT_EQ(watch->DeliveredRevision(), base_ + 3);
  watch->Take(1, events);
  EXPECT_EQ(watch->DeliveredRevision(), base_ + 5);
}

TEST_P(StoreWatch, DeliveredRevisionOfAReplayIsWhatHasBeenTaken) {
  for (int i = 0; i < 3; ++i) Create("a", "x" + std::to_string(i));
  auto watch = MustWatch({.resource = kPods, .from_revision = base_ + 1});
  EXPECT_EQ(watch->DeliveredRevision(), base_ + 1);
  std::vector<Event> events;
  watch->Take(1, events);
  EXPECT_EQ(watch->DeliveredRevision(), base_ + 2);
  watch->Take(9, events);
  EXPECT_EQ(watch->DeliveredRevision(), base_ + 3);
}

TEST_P(StoreWatch, ShutdownClosesAfterWhatIsPending) {
  auto pending = MustWatch({.resource = kPods, .from_revision = base_});
  Create("a", "x");
  auto idle = MustWatch({.resource = kPods, .from_revision = base_ + 1});
  auto wakes = std::make_shared<std::atomic<int>>(0);
  idle->SetWake([wakes] { ++*wakes; });
  store_->Shutdown();
  EXPECT_EQ(*wakes, 1);
  std::vector<Event> events;
  EXPECT_EQ(idle->Take(9, events), Watch::State::kClosed);
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(pending->Take(9, events), Watch::State::kClosed);
  EXPECT_EQ(Show(events, base_), "+a/x=0@1");
  auto late = MustWatch({.resource = kPods, .from_revision = base_ + 1});
  EXPECT_EQ(late->Take(9, events), Watch::State::kClosed);
}

TEST_P(StoreWatch, AWatchMayOutliveItsStore) {
  auto watch = MustWatch({.resource = kPods, .from_revision = base_});
  Create("a", "x");
  store_.reset();
  std::vector<Event> events;
  EXPECT_EQ(watch->Take(9, events), Watch::State::kClosed);
  EXPECT_EQ(events.size(), 1u);
}

TEST_P(StoreWatch, AWakeMayTakeAndEndItsWatch) {
  auto watch =
      std::make_shared<std::unique_ptr<Watch>>(MustWatch({.resource = kPods, .from_revision = base_}));
  auto taken = std::make_shared<std::atomic<std::size_t>>(0);
  (*watch)->SetWake([watch = std::weak_ptr(watch), taken] {
    if (auto alive = watch.lock(); alive && *alive) {
      *taken += TakeAll(**alive).size();
      alive->reset();
    }
  });
  Create("a", "x");
  Create("a", "y");
  store_->Shutdown();
  EXPECT_GE(*taken, 1u);
}

}  // namespace
}  // namespace terrarium::storage::testing
