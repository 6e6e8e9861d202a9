#include "storage/internal/watch_hub.h"

#include <algorithm>
#include <atomic>
#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "storage/internal/watch_group.h"

namespace terrarium::storage {

void CallWakes(const Wakes& wakes) {
  for (const auto& wake : wakes) (*wake)();
}

// Lock order: mutex_, then a group's.
class WatchHub::Core {
 public:
  Core(std::int64_t published, std::size_t buffers_bytes_max)
      : buffers_bytes_max_(buffers_bytes_max), published_(published) {}

  std::int64_t published() const { return published_.load(std::memory_order_acquire); }

  std::shared_ptr<WatchGroup> Join(const WatchQuery& query, WatchMember& member) {
    std::lock_guard lock(mutex_);
    if (closed_) member.state = Watch::State::kClosed;
    auto& group = resources_[query.resource][Filter{query.ns, query.name}];
    if (group == nullptr) group = std::make_shared<WatchGroup>(buffered_);
    ++group->subscribers;
    group->Join(member);
    return group;
  }

  void Leave(const WatchQuery& query, WatchGroup& group, WatchMember& member) {
    std::lock_guard lock(mutex_);
    group.Leave(member);
    if (--group.subscribers > 0) return;
    auto resource = resources_.find(query.resource);
    resource->second.erase(Filter{query.ns, query.name});
    if (resource->second.empty()) resources_.erase(resource);
  }

  Wakes Publish(const std::deque<Change>& changes) {
    Wakes wakes;
    if (changes.empty()) return wakes;
    std::lock_guard lock(mutex_);
    for (const Change& change : changes) {
      auto resource = resources_.find(change.resource);
      if (resource == resources_.end()) continue;
      const api::ObjectHeader& header = change.event.object->header();
      const Groups& groups = resource->second;
      for (bool in_namespace : {false, true}) {
        for (bool by_name : {false, true}) {
          auto group =
              groups.find(FilterView{in_namespace ? &header.ns : nullptr, by_name ? &header.name : nullptr});
          if (group != groups.end()) group->second->Append(change.event, wakes);
        }
      }
    }
    LimitBuffers();
    // Stored last: a thread that reads this revision and then finds a watch empty knows that the watch has
    // taken all events up to it.
    published_.store(changes.back().event.revision(), std::memory_order_release);
    return wakes;
  }

  Wakes Close() {
    Wakes wakes;
    std::lock_guard lock(mutex_);
    closed_ = true;
    for (const auto& [resource, groups] : resources_)
      for (const auto& [filter, group] : groups) group->Close(wakes);
    return wakes;
  }

 private:
  struct Filter {
    std::optional<std::string> ns;
    std::optional<std::string> name;
  };
  struct FilterView {
    const std::string* ns;
    const std::string* name;
  };
  struct FilterLess {
    using is_transparent = void;
    static FilterView View(const Filter& f) { return {f.ns ? &*f.ns : nullptr, f.name ? &*f.name : nullptr}; }
    static FilterView View(const FilterView& f) { return f; }
    static std::strong_ordering Compare(const std::string* a, const std::string* b) {
      if (a == nullptr || b == nullptr) return (a != nullptr) <=> (b != nullptr);
      return *a <=> *b;
    }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      FilterView x = View(a), y = View(b);
      auto by_ns = Compare(x.ns, y.ns);
      return by_ns != 0 ? by_ns < 0 : Compare(x.name, y.name) < 0;
    }
  };
  using Groups = std::map<Filter, std::shared_ptr<WatchGroup>, FilterLess>;

  // Each buffer has its limit, but there are as many buffers as queries. REQUIRES: mutex_ is held, so that
  // nothing is added meanwhile.
  void LimitBuffers() {
    const std::uint64_t buffered = buffered_.load(std::memory_order_relaxed);
    if (buffered <= buffers_bytes_max_) {
      check_at_ = 0;
      return;
    }
    if (buffered < check_at_) return;
    std::vector<WatchGroup*> groups;
    std::vector<std::pair<std::uint64_t, std::size_t>> largest;  // a heap of bytes and the group's index
    std::uint64_t sum = 0;
    for (const auto& [resource, by_filter] : resources_)
      for (const auto& [filter, group] : by_filter) {
        largest.emplace_back(group->BytesOfSlowest(), groups.size());
        sum += largest.back().first;
        groups.push_back(group.get());
      }
    std::make_heap(largest.begin(), largest.end());
    while (sum > buffers_bytes_max_) {
      std::pop_heap(largest.begin(), largest.end());
      auto& [bytes, index] = largest.back();
      groups[index]->CutOffSlowest();
      const std::uint64_t left = groups[index]->BytesOfSlowest();
      sum -= bytes - left;
      bytes = left;
      std::push_heap(largest.begin(), largest.end());
    }
    // What components keep cannot be dropped: not worth searching again for a few events more.
    check_at_ = buffered_.load(std::memory_order_relaxed) + buffers_bytes_max_ / 16;
  }

  const std::size_t buffers_bytes_max_;
  BufferedBytes buffered_ = 0;
  std::uint64_t check_at_ = 0;  // LimitBuffers() waits until so much is buffered; guarded by mutex_

  std::atomic<std::int64_t> published_;
  std::mutex mutex_;
  std::map<std::string, Groups, std::less<>> resources_;  // guarded by mutex_, as closed_
  bool closed_ = false;
};

namespace {

class HubWatch final : public Watch {
 public:
  HubWatch(std::shared_ptr<WatchHub::Core> core, const WatchQuery& query, std::int64_t current_revision,
           std::vector<Event> replay)
      : core_(std::move(core)), query_(query) {
    member_.after_revision = std::max(query.from_revision, current_revision);
    member_.buffer_events = std::max<std::size_t>(query.buffer_events, 1);
    member_.buffer_bytes = std::max<std::size_t>(query.buffer_bytes, 1);
    member_.backlog.assign(std::make_move_iterator(replay.begin()), std::make_move_iterator(replay.end()));
    // With a replay to deliver, the watch starts at the revision that the query asked for.
    member_.delivered = member_.backlog.empty() ? member_.after_revision : query.from_revision;
    group_ = core_->Join(query_, member_);
  }
  HubWatch(const HubWatch&) = delete;
  HubWatch& operator=(const HubWatch&) = delete;
  ~HubWatch() override { core_->Leave(query_, *group_, member_); }

  State Take(std::size_t max, std::vector<Event>& out) override { return group_->Take(member_, max, out); }

  void SetWake(std::function<void()> wake) override {
    auto shared = std::make_shared<const std::function<void()>>(std::move(wake));
    if (group_->SetWake(member_, shared)) (*shared)();
  }

  std::int64_t DeliveredRevision() const override {
    return group_->DeliveredRevision(member_, core_->published());
  }

 private:
  std::shared_ptr<WatchHub::Core> core_;
  const WatchQuery query_;
  mutable WatchMember member_;
  std::shared_ptr<WatchGroup> group_;
};

}  // namespace

WatchHub::WatchHub(std::int64_t published, std::size_t buffers_bytes_max)
    : core_(std::make_shared<Core>(published, buffers_bytes_max)) {}
WatchHub::~WatchHub() = default;

std::unique_ptr<Watch> WatchHub::Subscribe(const WatchQuery& query, std::int64_t current_revision,
                                           std::vector<Event> replay) {
  return std::make_unique<HubWatch>(core_, query, current_revision, std::move(replay));
}

Wakes WatchHub::Publish(const std::deque<Change>& changes) { return core_->Publish(changes); }

Wakes WatchHub::Close() { return core_->Close(); }

}  // namespace terrarium::storage
