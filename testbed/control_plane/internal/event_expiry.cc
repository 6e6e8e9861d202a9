#include "testbed/control_plane/internal/event_expiry.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "api/base/repeating_timer.h"
#include "api/json_access.h"

namespace terrarium::testbed {
namespace {

constexpr const char* kEvents = "events";
constexpr std::size_t kEventsPerTake = 1'000;

}  // namespace

EventExpiry::EventExpiry(const api::Clock& clock, api::Executor& lane, storage::Store& store,
                         api::Duration ttl)
    : clock_(clock), lane_(lane), store_(store), ttl_(ttl) {}

EventExpiry::~EventExpiry() {
  for (api::TimerId timer : {collect_timer_, expiry_timer_})
    if (timer != 0) lane_.Cancel(timer);
}

void EventExpiry::Start() {
  storage::WatchQuery query;
  query.resource = kEvents;
  query.buffer_events = std::numeric_limits<std::size_t>::max();  // they are in the store anyway
  storage::ListAndWatchResult start = store_.ListAndWatch(query);
  watch_ = std::move(start.watch);
  std::map<api::Time, std::vector<WeakEvent>> by_expiry;
  for (const api::ObjectPtr& event : start.listing.items) {
    // A client may have dated it in the future.
    const api::Time written = std::min(LastWritten(*event->Document()), clock_.Now());
    const auto periods = (written + ttl_).time_since_epoch() / kPeriod;
    by_expiry[api::Time(kPeriod * (periods + 1))].push_back(event);
  }
  for (auto& [expires, events] : by_expiry) batches_.push_back({expires, std::move(events)});
  ExpireDue();
  watch_->SetWake([weak = weak_from_this(), &lane = lane_] {
    lane.Post([weak] {
      if (auto self = weak.lock()) self->CollectLater();
    });
  });
}

void EventExpiry::CollectLater() {
  if (collect_timer_ != 0) return;
  collect_timer_ = api::PostRepeating(lane_, kPeriod, kPeriod, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Collect();
  });
}

void EventExpiry::Collect() {
  collect_timer_ = 0;
  Batch batch{clock_.Now() + ttl_, {}};
  std::vector<storage::Event> taken;
  do {
    taken.clear();
    watch_->Take(kEventsPerTake, taken);
    for (const storage::Event& event : taken)
      if (event.type != storage::EventType::kDeleted) batch.events.push_back(event.object);
  } while (taken.size() == kEventsPerTake);
  if (batch.events.empty()) return;
  batches_.push_back(std::move(batch));
  Schedule();
}

void EventExpiry::Schedule() {
  if (expiry_timer_ != 0 || batches_.empty()) return;
  expiry_timer_ = lane_.PostInBackground(batches_.front().expires - clock_.Now(), [weak = weak_from_this()] {
    auto self = weak.lock();
    if (self == nullptr) return;
    self->expiry_timer_ = 0;
    self->ExpireDue();
  });
}

void EventExpiry::ExpireDue() {
  for (; !batches_.empty() && batches_.front().expires <= clock_.Now(); batches_.pop_front())
    Delete(batches_.front());
  Schedule();
}

void EventExpiry::Delete(const Batch& batch) {
  for (const WeakEvent& weak : batch.events) {
    const api::ObjectPtr event = weak.lock();
    if (event == nullptr) continue;
    const api::ObjectHeader& header = event->header();
    // A conflict means that the Event was written again: it is in a later batch. After a failure of the disk
    // it stays until the server starts the next time.
    auto work = std::make_shared<api::OutsideWork>(lane_);
    store_.Submit({storage::Write::Op::kDelete, {kEvents, header.ns, header.name}, event->revision()},
                  [work = std::move(work)](const storage::WriteOutcome&) {});
  }
}

api::Time LastWritten(const api::Json& event) {
  api::Time last{};
  for (std::string_view text :
       {api::StringAt(event, "metadata", "creationTimestamp"), api::StringAt(event, "eventTime"),
        api::StringAt(event, "firstTimestamp"), api::StringAt(event, "lastTimestamp"),
        api::StringAt(event, "series", "lastObservedTime")})
    if (auto time = api::ParseTime(text)) last = std::max(last, *time);
  return last;
}

}  // namespace terrarium::testbed
