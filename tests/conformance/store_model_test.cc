// Thousands of random operations against the store and against a trivial model: the whole state at every
// revision, and the whole list of events.

#include <algorithm>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "api/base/prng.h"
#include "tests/conformance/store_conformance.h"

namespace terrarium::storage::testing {
namespace {

TERRARIUM_STORE_SUITE(StoreModel);

using Code = WriteOutcome::Code;
constexpr const char* kResources[] = {"pods", "services", "nodes"};

struct ModelObject {
  int value;
  std::int64_t revision;
};
using ModelState = std::map<ObjectKey, ModelObject>;
struct ModelEvent {
  ObjectKey key;
  std::string text;  // as Show() has it
  std::int64_t revision;
};

std::string Text(const ObjectKey& key, const ModelObject& object) {
  return (key.ns.empty() ? key.name : key.ns + "/" + key.name) + "=" + std::to_string(object.value) + "@" +
         std::to_string(object.revision);
}

class Model {
 public:
  explicit Model(std::int64_t revision) : first_(revision), states_{{}} {}

  std::int64_t revision() const { return first_ + static_cast<std::int64_t>(states_.size()) - 1; }
  const ModelState& newest() const { return states_.back(); }

  Code Apply(Write::Op op, const ObjectKey& key, std::int64_t expected, int value) {
    ModelState next = states_.back();
    auto it = next.find(key);
    if (op == Write::Op::kCreate) {
      if (it != next.end()) return Code::kExists;
    } else {
      if (it == next.end()) return Code::kNotFound;
      if (it->second.revision != expected) return Code::kConflict;
    }
    std::int64_t revision = this->revision() + 1;
    if (op == Write::Op::kDelete) {
      events_.push_back({key, "-" + Text(key, {it->second.value, revision}), revision});
      next.erase(it);
    } else {
      next[key] = {value, revision};
      events_.push_back({key, (op == Write::Op::kCreate ? "+" : "~") + Text(key, next[key]), revision});
    }
    states_.push_back(std::move(next));
    return Code::kOk;
  }

  std::string List(const ListQuery& query) const {
    std::string out;
    std::size_t count = 0;
    for (const auto& [key, object] : states_.at(static_cast<std::size_t>(query.at_revision - first_))) {
      if (key.resource != query.resource || (query.ns && key.ns != *query.ns)) continue;
      std::size_t slash = query.start_after.find('/');
      bool has_ns = slash != std::string::npos;
      std::pair<std::string, std::string> behind{
          has_ns ? query.start_after.substr(0, slash) : "",
          has_ns ? query.start_after.substr(slash + 1) : query.start_after};
      if (std::pair(key.ns, key.name) <= behind) continue;
      if (query.limit == 0 || count < query.limit)
        out.append(out.empty() ? "" : " ").append(Text(key, object));
      ++count;
    }
    std::size_t remaining = query.limit == 0 ? 0 : count - std::min(count, query.limit);
    return out + " (" + std::to_string(remaining) + " more)";
  }

  std::string Events(const WatchQuery& query, std::int64_t after) const {
    std::string out;
    for (const ModelEvent& event : events_) {
      if (event.revision <= after || event.key.resource != query.resource) continue;
      if ((query.ns && event.key.ns != *query.ns) || (query.name && event.key.name != *query.name)) continue;
      out.append(out.empty() ? "" : " ").append(event.text);
    }
    return out;
  }

 private:
  std::int64_t first_;
  std::vector<ModelState> states_;  // [0] is the state at first_
  std::vector<ModelEvent> events_;
};

struct OpenWatch {
  WatchQuery query;
  std::int64_t after;
  std::unique_ptr<Watch> watch;
  std::string seen;
};

class ModelRun {
 public:
  ModelRun(Store& store, std::uint64_t seed) : store_(store), prng_(seed), model_(store.CurrentRevision()) {}

  void Step() {
    switch (prng_.Below(20)) {
      case 0: Flush(); return CheckList();
      case 1: Flush(); return CheckGet();
      case 2: return StartWatch();
      case 3: return TakeSome();
      case 4:
        if (prng_.Below(10) == 0) Compact();
        return;
      default: return WriteSomething();
    }
  }

  // Waits for every write and compares its outcome.
  void Flush() {
    if (pending_ == 0) return;
    // Outcomes are reported in order, so the outcome of the last write comes after all others.
    Do(store_, DeleteWrite(MakeObject("", "never"), "nothing"));
    ASSERT_EQ(outcomes_->size(), expected_.size());
    for (std::size_t i = 0; i < expected_.size(); ++i)
      ASSERT_EQ((*outcomes_)[i], expected_[i]) << "write " << i;
    ASSERT_EQ(store_.CurrentRevision(), model_.revision());
    pending_ = 0;
  }

  void Finish() {
    Flush();
    for (OpenWatch& open : watches_) {
      TakeAllOf(open, 1000);
      EXPECT_EQ(open.seen, model_.Events(open.query, open.after));
      EXPECT_GE(open.watch->DeliveredRevision(), model_.revision());
    }
    for (const char* resource : kResources) {
      ListQuery query{.resource = resource, .at_revision = model_.revision()};
      EXPECT_EQ(ShowList(query), model_.List(query));
    }
  }

 private:
  ObjectKey RandomKey() {
    std::string resource = kResources[prng_.Below(3)];
    std::string ns = resource == "nodes" ? "" : std::string(1, static_cast<char>('a' + prng_.Below(3)));
    return {resource, ns, "n" + std::to_string(prng_.Below(12))};
  }

  void WriteSomething() {
    ObjectKey key = RandomKey();
    auto now = model_.newest().find(key);
    bool exists = now != model_.newest().end();
    // Mostly valid writes, sometimes invalid ones.
    Write::Op op =
        exists ? (prng_.Below(3) == 0 ? Write::Op::kDelete : Write::Op::kUpdate) : Write::Op::kCreate;
    if (prng_.Below(10) == 0) op = static_cast<Write::Op>(prng_.Below(3));
    std::int64_t expected = exists ? now->second.revision : 5;
    if (prng_.Below(15) == 0) --expected;
    int value = static_cast<int>(prng_.Below(1000));
    Write write{.op = op, .key = key, .expected_revision = expected, .object = nullptr};
    if (op != Write::Op::kDelete) write.object = MakeObject(key.ns, key.name, value);
    expected_.push_back(model_.Apply(op, key, expected, value));
    ++pending_;
    store_.Submit(std::move(write), [outcomes = outcomes_](WriteOutcome o) { outcomes->push_back(o.code); });
  }

  std::string ShowList(const ListQuery& query) {
    api::Result<Listing> listing = store_.List(query);
    if (!listing) return "expired";
    EXPECT_EQ(listing->revision, query.at_revision);
    return Show(listing->items) + " (" + std::to_string(listing->remaining) + " more)";
  }

  std::int64_t RandomRevision(std::int64_t oldest) {
    return oldest +
           static_cast<std::int64_t>(prng_.Below(static_cast<std::uint64_t>(model_.revision() - oldest) + 1));
  }

  void CheckList() {
    ListQuery query;
    ObjectKey key = RandomKey();
    query.resource = key.resource;
    if (prng_.Below(2) == 0) query.ns = key.ns;
    if (prng_.Below(2) == 0) query.start_after = key.ns.empty() ? key.name : key.ns + "/" + key.name;
    query.limit = prng_.Below(8);
    std::int64_t compacted = store_.CompactedRevision();
    query.at_revision = RandomRevision(std::max<std::int64_t>(compacted - 5, 1));
    const std::string shown = ShowList(query);
    // A quiet resource may have kept more than the others.
    if (query.at_revision < compacted && shown == "expired") return;
    EXPECT_EQ(shown, model_.List(query)) << "at " << query.at_revision;
  }

  void CheckGet() {
    ObjectKey key = RandomKey();
    auto expected = model_.newest().find(key);
    ObjectPtr got = store_.Get(key);
    ASSERT_EQ(got != nullptr, expected != model_.newest().end());
    if (got == nullptr) return;
    EXPECT_EQ(Show(std::vector{got}), Text(key, expected->second));
  }

  void StartWatch() {
    ObjectKey key = RandomKey();
    OpenWatch open;
    open.query.resource = key.resource;
    if (prng_.Below(2) == 0) open.query.ns = key.ns;
    if (prng_.Below(4) == 0) open.query.name = key.name;
    open.query.buffer_events = 1'000'000;
    if (prng_.Below(3) == 0) {
      ListAndWatchResult both = store_.ListAndWatch(open.query);
      open.after = both.listing.revision;
      open.watch = std::move(both.watch);
    } else {
      open.after = RandomRevision(store_.CompactedRevision()) + static_cast<std::int64_t>(prng_.Below(4));
      open.query.from_revision = open.after;
      auto watch = store_.StartWatch(open.query);
      // A concurrent write may have trimmed the history.
      if (!watch) {
        EXPECT_LT(open.after, store_.CompactedRevision());
        return;
      }
      open.watch = std::move(*watch);
    }
    watches_.push_back(std::move(open));
    if (watches_.size() > 20) {
      OpenWatch& oldest = watches_.front();
      Flush();
      TakeAllOf(oldest, 100);
      EXPECT_EQ(oldest.seen, model_.Events(oldest.query, oldest.after));
      watches_.erase(watches_.begin());
    }
  }

  void TakeAllOf(OpenWatch& open, std::size_t max) {
    std::vector<Event> events;
    do {
      events.clear();
      EXPECT_EQ(open.watch->Take(max, events), Watch::State::kOpen);
      open.seen.append(open.seen.empty() || events.empty() ? "" : " ").append(Show(events));
    } while (!events.empty());
  }

  void TakeSome() {
    if (watches_.empty()) return;
    OpenWatch& open = watches_[prng_.Below(watches_.size())];
    std::vector<Event> events;
    EXPECT_EQ(open.watch->Take(1 + prng_.Below(30), events), Watch::State::kOpen);
    open.seen.append(open.seen.empty() || events.empty() ? "" : " ").append(Show(events));
  }

  void Compact() { store_.Compact(RandomRevision(store_.CompactedRevision())); }

  Store& store_;
  api::Prng prng_;
  Model model_;
  std::vector<OpenWatch> watches_;
  std::vector<Code> expected_;
  // Written by the thread that reports outcomes; read after a flush.
  std::shared_ptr<std::vector<Code>> outcomes_ = std::make_shared<std::vector<Code>>();
  int pending_ = 0;
};

TEST_P(StoreModel, RandomOperationsMatchTheModel) {
  for (std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Open({.events_max = 300, .events_min = 50});
    ModelRun run(*store_, seed);
    for (int i = 0; i < 2000 && !HasFailure(); ++i) run.Step();
    run.Finish();
  }
}

}  // namespace
}  // namespace terrarium::storage::testing
