#include "storage/internal/watch_hub.h"

#include <gtest/gtest.h>

#include "tests/storage/store_testing.h"

namespace terrarium::storage {
namespace {

using testing::kPods;
using testing::MakeObject;
using testing::Show;
using testing::TakeAll;

class WatchHubTest : public ::testing::Test {
 protected:
  explicit WatchHubTest(std::size_t buffers_bytes_max = kBuffersBytesMax) : hub_(1, buffers_bytes_max) {}

  // Publishes one added object and returns the number of wake-ups.
  std::size_t Publish(const std::string& ns, const std::string& name) {
    std::deque<Change> changes;
    changes.push_back(
        {kPods, Event{EventType::kAdded, MakeObject(ns, name)->AtRevision(++revision_), nullptr}});
    last_ = changes.back().event.object;
    Wakes wakes = hub_.Publish(changes);
    CallWakes(wakes);
    return wakes.size();
  }
  std::unique_ptr<Watch> Subscribe(WatchQuery query) {
    query.resource = kPods;
    auto watch = hub_.Subscribe(query, revision_, {});
    watch->SetWake([this] { ++wakes_; });
    return watch;
  }

  std::int64_t revision_ = 1;
  WatchHub hub_;
  std::weak_ptr<const api::Object> last_;
  int wakes_ = 0;
};

TEST_F(WatchHubTest, OnlyWatchesThatAskedAreWoken) {
  auto all = Subscribe({.resource = {}});
  auto in_a = Subscribe({.resource = {}, .ns = "a"});
  auto in_b = Subscribe({.resource = {}, .ns = "b"});
  auto b_y = Subscribe({.resource = {}, .ns = "b", .name = "y"});
  EXPECT_EQ(Publish("b", "x"), 2u);
  EXPECT_EQ(Publish("b", "y"), 1u) << "two have been woken already";
  EXPECT_EQ(Publish("a", "z"), 1u);
  EXPECT_EQ(Show(TakeAll(*b_y)), "+b/y=0@3");
  EXPECT_EQ(Show(TakeAll(*in_b)), "+b/x=0@2 +b/y=0@3");
}

TEST_F(WatchHubTest, AThousandWatchersAreWokenOnceHoweverManyEventsCome) {
  std::vector<std::unique_ptr<Watch>> watches;
  for (int i = 0; i < 1000; ++i) watches.push_back(Subscribe({.resource = {}}));
  EXPECT_EQ(Publish("a", "x"), 1000u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Publish("a", "x" + std::to_string(i)), 0u);
  EXPECT_EQ(wakes_, 1000);
  for (auto& watch : watches) EXPECT_EQ(TakeAll(*watch).size(), 101u);
  EXPECT_EQ(Publish("a", "y"), 1000u);
}

TEST_F(WatchHubTest, AnEventIsFreedWithItsLastReader) {
  auto first = Subscribe({.resource = {}});
  auto second = Subscribe({.resource = {}});
  Publish("a", "x");
  auto joined_later = Subscribe({.resource = {}});
  TakeAll(*first);
  EXPECT_FALSE(last_.expired());
  TakeAll(*second);
  EXPECT_TRUE(last_.expired());
}

TEST_F(WatchHubTest, AnEventIsFreedWhenItsLastReaderUnsubscribes) {
  auto first = Subscribe({.resource = {}});
  auto second = Subscribe({.resource = {}});
  Publish("a", "x");
  TakeAll(*first);
  second.reset();
  EXPECT_TRUE(last_.expired());
  EXPECT_EQ(Publish("a", "y"), 1u);
}

TEST_F(WatchHubTest, EventsWithoutAWatchAreFreed) {
  Publish("a", "x");
  EXPECT_TRUE(last_.expired());
  auto elsewhere = Subscribe({.resource = {}, .ns = "b"});
  Publish("a", "y");
  EXPECT_TRUE(last_.expired());
  EXPECT_EQ(elsewhere->DeliveredRevision(), 3);
}

TEST_F(WatchHubTest, AWatchThatWasCutOffHoldsNoEvents) {
  std::vector<Event> replay = {{EventType::kAdded, MakeObject("a", "0")->AtRevision(1), nullptr}};
  std::weak_ptr<const api::Object> replayed = replay[0].object;
  auto slow =
      hub_.Subscribe({.resource = kPods, .from_revision = 0, .buffer_events = 2}, 1, std::move(replay));
  auto quick = Subscribe({.resource = {}});
  Publish("a", "1");
  Publish("a", "2");
  std::weak_ptr<const api::Object> pending = last_;
  TakeAll(*quick);
  EXPECT_FALSE(replayed.expired());
  EXPECT_FALSE(pending.expired());
  Publish("a", "3");
  TakeAll(*quick);
  EXPECT_TRUE(replayed.expired());
  EXPECT_TRUE(pending.expired());
  EXPECT_TRUE(last_.expired());
  Watch::State state{};
  EXPECT_EQ(Show(TakeAll(*slow, &state)), "");
  EXPECT_EQ(state, Watch::State::kOverflow);
}

TEST_F(WatchHubTest, AWatchIsCutOffWhenItsPendingEventsKeepTooManyBytesAlive) {
  auto narrow = Subscribe({.resource = {}, .buffer_bytes = 3 * sizeof(Event)});
  auto wide = Subscribe({.resource = {}, .buffer_bytes = 4 * sizeof(Event)});
  for (const char* name : {"1", "2", "3", "4"}) Publish("a", name);
  Watch::State state{};
  EXPECT_EQ(Show(TakeAll(*narrow, &state)), "");
  EXPECT_EQ(state, Watch::State::kOverflow);
  EXPECT_EQ(TakeAll(*wide, &state).size(), 4u);
  EXPECT_EQ(state, Watch::State::kOpen);
}

TEST_F(WatchHubTest, TheStateThatAnEventReplacedCountsAsItsBytes) {
  auto watch = Subscribe({.resource = {}, .buffer_bytes = 2 * sizeof(Event)});
  auto previous = MakeObject("a", "x")->AtRevision(revision_);
  auto object = MakeObject("a", "x", 1)->AtRevision(++revision_);
  CallWakes(hub_.Publish({{kPods, Event{EventType::kModified, object, previous}}}));
  Publish("a", "y");
  Watch::State state{};
  EXPECT_EQ(Show(TakeAll(*watch, &state)), "");
  EXPECT_EQ(state, Watch::State::kOverflow);
}

class FullHubTest : public WatchHubTest {
 protected:
  static constexpr std::size_t kBytes = 8 * sizeof(Event);  // of eight events
  FullHubTest() : WatchHubTest(kBytes) {}

  Watch::State StateOf(Watch& watch) {
    Watch::State state{};
    TakeAll(watch, &state);
    return state;
  }
};

TEST_F(FullHubTest, TheSlowestWatchesOfTheLargestBuffersAreCutOff) {
  auto in_a = Subscribe({.resource = {}, .ns = "a", .buffer_bytes = kBytes});
  auto in_b = Subscribe({.resource = {}, .ns = "b", .buffer_bytes = kBytes});
  for (int i = 0; i < 5; ++i) Publish("a", std::to_string(i));
  std::weak_ptr<const api::Object> pending = last_;
  auto later_in_a = Subscribe({.resource = {}, .ns = "a", .buffer_bytes = kBytes});
  Publish("a", "5");
  Publish("b", "0");
  Publish("b", "1");
  EXPECT_FALSE(pending.expired());
  Publish("b", "2");
  EXPECT_TRUE(pending.expired()) << "nine events";
  EXPECT_EQ(StateOf(*in_a), Watch::State::kOverflow);
  EXPECT_EQ(Show(TakeAll(*later_in_a)), "+a/5=0@7");
  EXPECT_EQ(TakeAll(*in_b).size(), 3u);
  Publish("b", "3");
  EXPECT_EQ(TakeAll(*in_b).size(), 1u) << "it goes on";
}

TEST_F(FullHubTest, ManyBuffersStayWithinTheLimitTogether) {
  std::vector<std::unique_ptr<Watch>> watches;
  for (int i = 0; i < 20; ++i)
    watches.push_back(Subscribe({.resource = {}, .ns = std::to_string(i), .buffer_bytes = kBytes}));
  for (int i = 0; i < 20; ++i)
    for (const char* name : {"x", "y"}) Publish(std::to_string(i), name);
  std::size_t pending = 0;
  for (auto& watch : watches) pending += TakeAll(*watch).size();
  EXPECT_GT(pending, 5u);
  EXPECT_LE(pending, 8u);
}

TEST_F(FullHubTest, WatchesThatReadAreKept) {
  auto slow = Subscribe({.resource = {}, .ns = "a", .buffer_bytes = kBytes});
  auto quick = Subscribe({.resource = {}, .buffer_bytes = kBytes});
  for (int i = 0; i < 30; ++i) {
    Publish(i < 6 ? "a" : "b", std::to_string(i));
    ASSERT_EQ(TakeAll(*quick).size(), 1u) << i;
  }
  EXPECT_EQ(StateOf(*quick), Watch::State::kOpen);
  EXPECT_EQ(TakeAll(*slow).size(), 6u);
}

TEST_F(FullHubTest, WatchesOfComponentsNeitherCountNorAreCutOff) {
  auto component = Subscribe({.resource = {}});
  auto client = Subscribe({.resource = {}, .buffer_bytes = kBytes});
  for (int i = 0; i < 100; ++i) {
    Publish("a", std::to_string(i));
    ASSERT_EQ(TakeAll(*client).size(), 1u) << i;
  }
  EXPECT_EQ(TakeAll(*component).size(), 100u);
}

TEST_F(WatchHubTest, ABufferOfBytesRefillsAsItIsTaken) {
  auto watch = Subscribe({.resource = {}, .buffer_bytes = 3 * sizeof(Event)});
  std::vector<Event> events;
  for (int i = 0; i < 30; ++i) {
    Publish("a", std::to_string(i));
    if (i < 2) continue;
    EXPECT_EQ(watch->Take(1, events), Watch::State::kOpen) << i;
  }
  Watch::State state{};
  EXPECT_EQ(events.size() + TakeAll(*watch, &state).size(), 30u);
  EXPECT_EQ(state, Watch::State::kOpen);
}

TEST_F(WatchHubTest, ABufferRefillsAsItIsTaken) {
  auto watch = Subscribe({.resource = {}, .buffer_events = 3});
  std::vector<Event> events;
  for (int i = 0; i < 30; ++i) {
    Publish("a", std::to_string(i));
    if (i < 2) continue;
    EXPECT_EQ(watch->Take(1, events), Watch::State::kOpen) << i;
  }
  Watch::State state{};
  EXPECT_EQ(events.size() + TakeAll(*watch, &state).size(), 30u);
  EXPECT_EQ(state, Watch::State::kOpen);
}

TEST_F(WatchHubTest, EventsOnTheirWayWhenAWatchBeganAreNotGivenTwice) {
  // The state is at revision 3 and has replayed 2 and 3, which are published only now.
  std::vector<Event> replay = {{EventType::kAdded, MakeObject("a", "x")->AtRevision(2), nullptr},
                               {EventType::kAdded, MakeObject("a", "y")->AtRevision(3), nullptr}};
  auto watch = hub_.Subscribe({.resource = kPods, .from_revision = 1}, 3, replay);
  Publish("a", "x");
  Publish("a", "y");
  Publish("a", "z");
  EXPECT_EQ(watch->DeliveredRevision(), 1);
  EXPECT_EQ(Show(TakeAll(*watch)), "+a/x=0@2 +a/y=0@3 +a/z=0@4");
  EXPECT_EQ(watch->DeliveredRevision(), 4);
}

TEST_F(WatchHubTest, WatchesOutliveTheHub) {
  auto hub = std::make_unique<WatchHub>(5);
  auto watch = hub->Subscribe({.resource = kPods}, 5, {});
  hub.reset();
  EXPECT_TRUE(TakeAll(*watch).empty());
  EXPECT_EQ(watch->DeliveredRevision(), 5);
}

}  // namespace
}  // namespace terrarium::storage
