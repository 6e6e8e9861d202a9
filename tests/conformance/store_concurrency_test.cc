#include <atomic>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "tests/conformance/store_conformance.h"

namespace terrarium::storage::testing {
namespace {

TERRARIUM_STORE_SUITE(StoreConcurrency);

// A log of events that a thread waits for and reads to the end. It checks order and uniqueness.
class Reader {
 public:
  Reader(std::unique_ptr<Watch> watch, std::int64_t after) : watch_(std::move(watch)), last_(after) {
    watch_->SetWake([signal = signal_] {
      signal->store(true);
      signal->notify_all();
    });
    thread_ = std::thread([this] { Run(); });
  }
  ~Reader() { thread_.join(); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void Join() {
    thread_.join();
    thread_ = std::thread([] {});
  }
  const std::vector<Event>& events() const { return events_; }

 private:
  void Run() {
    for (;;) {
      std::size_t before = events_.size();
      Watch::State state = watch_->Take(64, events_);
      for (std::size_t i = before; i < events_.size(); ++i) {
        EXPECT_GT(events_[i].revision(), last_);
        last_ = events_[i].revision();
      }
      EXPECT_GE(watch_->DeliveredRevision(), last_);
      if (state != Watch::State::kOpen) {
        EXPECT_EQ(state, Watch::State::kClosed);
        return;
      }
      if (events_.size() - before == 64) continue;
      signal_->wait(false);
      signal_->store(false);
    }
  }

  std::shared_ptr<std::atomic<bool>> signal_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<Watch> watch_;
  std::int64_t last_;
  std::vector<Event> events_;
  std::thread thread_;
};

// Several threads increment counters with compare-and-swap while other threads watch from different
// revisions: no increment is lost, and every watch sees exactly the revisions after its start.
TEST_P(StoreConcurrency, NoUpdateIsLostAndNoWatchHasGapsOrRepeats) {
  constexpr int kWriters = 4, kIncrements = 60, kObjects = 3;
  const std::size_t buffer = 100'000;
  for (int i = 0; i < kObjects; ++i) Create("a", "x" + std::to_string(i), 0);
  std::int64_t start = store_->CurrentRevision();

  std::vector<std::unique_ptr<Reader>> readers;
  std::vector<std::int64_t> reader_starts;
  auto add_reader = [&](std::unique_ptr<Watch> watch, std::int64_t from) {
    readers.push_back(std::make_unique<Reader>(std::move(watch), from));
    reader_starts.push_back(from);
  };
  add_reader(MustWatch({.resource = kPods, .from_revision = base_, .buffer_events = buffer}), base_);

  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < kIncrements; ++i) {
        for (;;) {
          ObjectPtr now = store_->Get({kPods, "a", "x" + std::to_string((w + i) % kObjects)});
          if (Do(*store_, UpdateWrite(now, ValueOf(now) + 1)).code == WriteOutcome::Code::kOk) break;
        }
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    ListAndWatchResult both = store_->ListAndWatch({.resource = kPods, .ns = "a", .buffer_events = buffer});
    std::int64_t newest = 0;
    for (const ObjectPtr& object : both.listing.items) newest = std::max(newest, object->revision());
    EXPECT_LE(newest, both.listing.revision);
    add_reader(std::move(both.watch), both.listing.revision);
    std::int64_t from = store_->CurrentRevision() - i;
    add_reader(
        MustWatch({.resource = kPods, .from_revision = std::max(from, base_), .buffer_events = buffer}),
        std::max(from, base_));
  }
  for (std::thread& writer : writers) writer.join();
  std::int64_t end = store_->CurrentRevision();
  EXPECT_EQ(end - start, kWriters * kIncrements);
  int sum = 0;
  for (const ObjectPtr& object : MustList({.resource = kPods}).items) sum += ValueOf(object);
  EXPECT_EQ(sum, kWriters * kIncrements);

  store_->Shutdown();
  for (std::size_t i = 0; i < readers.size(); ++i) {
    readers[i]->Join();
    EXPECT_EQ(readers[i]->events().size(), static_cast<std::size_t>(end - reader_starts[i]))
        << "reader " << i;
  }
}

// Readers list all the time: each list is the state at one revision, and revisions never go back.
TEST_P(StoreConcurrency, ListsAreSnapshotsAndNeverGoBack) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&] {
      std::int64_t last = 0;
      while (!stop) {
        Listing listing = MustList({.resource = kPods});
        EXPECT_GE(listing.revision, last);
        last = listing.revision;
        // Writes alternate create, delete: an odd number of revisions since the start means one object.
        EXPECT_EQ(listing.items.size(), static_cast<std::size_t>((listing.revision - base_) % 2));
        for (const ObjectPtr& object : listing.items) EXPECT_EQ(object->revision(), listing.revision);
      }
    });
  }
  for (int i = 0; i < 60; ++i) Delete(Create("a", "x" + std::to_string(i)));
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

// Watches start and stop while events are published.
TEST_P(StoreConcurrency, WatchesComeAndGoWhileEventsArePublished) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> watchers;
  for (int w = 0; w < 3; ++w) {
    watchers.emplace_back([&, w] {
      while (!stop) {
        auto wakes = std::make_shared<std::atomic<int>>(0);
        ListAndWatchResult both = store_->ListAndWatch(
            {.resource = kPods, .buffer_events = w == 0 ? std::size_t{1} : std::size_t{100}});
        both.watch->SetWake([wakes] { ++*wakes; });
        std::vector<Event> events;
        both.watch->Take(10, events);
        for (std::size_t i = 0; i < events.size(); ++i)
          EXPECT_EQ(events[i].revision(), both.listing.revision + 1 + static_cast<std::int64_t>(i));
        EXPECT_GE(both.watch->DeliveredRevision(), both.listing.revision);
      }
    });
  }
  for (int i = 0; i < 100; ++i) Create("a", "x" + std::to_string(i));
  stop = true;
  for (std::thread& watcher : watchers) watcher.join();
}

}  // namespace
}  // namespace terrarium::storage::testing
