#include "storage/internal/watch_group.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/base/check.h"

namespace terrarium::storage {
namespace {

std::uint64_t AddUpToMax(std::uint64_t a, std::uint64_t b) { return b > UINT64_MAX - a ? UINT64_MAX : a + b; }

// Those of components in this process have none.
bool HasByteLimit(const WatchMember& member) {
  return member.buffer_bytes < std::numeric_limits<std::size_t>::max();
}

}  // namespace

void WatchGroup::Join(WatchMember& member) {
  std::lock_guard lock(mutex_);
  member.self = idle_.insert(idle_.end(), &member);
  if (!member.backlog.empty()) MakeBusy(member, end_);
}

void WatchGroup::Leave(WatchMember& member) {
  std::lock_guard lock(mutex_);
  if (member.place == WatchMember::Place::kBusy) {
    Release(member);
    busy_.erase(member.self);
  } else if (member.place == WatchMember::Place::kIdle) {
    idle_.erase(member.self);
  }
}

void WatchGroup::MakeBusy(WatchMember& member, std::uint64_t next) {
  busy_.splice(busy_.end(), idle_, member.self);
  member.place = WatchMember::Place::kBusy;
  member.next = next;
  CheckInTime(member);
}

void WatchGroup::Release(WatchMember& member) {
  for (std::uint64_t s = member.next; s < end_; ++s) --At(s).readers;
  member.next = end_;
  DropUnwanted();
}

void WatchGroup::DropUnwanted() {
  // A reader of an entry also reads all later entries, so the entries without readers are at the front.
  const std::uint64_t before = BytesBefore(FirstSequence());
  while (!entries_.empty() && entries_.front().readers == 0) entries_.pop_front();
  buffered_.fetch_sub(BytesBefore(FirstSequence()) - before, std::memory_order_relaxed);
}

bool WatchGroup::IsFull(const WatchMember& member) {
  return end_ - member.next >= member.buffer_events || PendingBytes(member) >= member.buffer_bytes;
}

void WatchGroup::CheckInTime(const WatchMember& member) {
  check_at_ = std::min(check_at_, AddUpToMax(member.next, member.buffer_events));
  check_at_bytes_ = std::min(check_at_bytes_, AddUpToMax(BytesBefore(member.next), member.buffer_bytes));
}

void WatchGroup::CutOffFullMembers() {
  check_at_ = check_at_bytes_ = UINT64_MAX;
  for (auto it = busy_.begin(); it != busy_.end();) {
    WatchMember& member = **it++;
    if (IsFull(member))
      CutOff(member);
    else
      CheckInTime(member);
  }
}

void WatchGroup::CutOff(WatchMember& member) {
  // The subscriber has to start again in any case. Its pending events would stay in memory for as long as a
  // slow client takes to read them, outside every limit.
  std::deque<Event>().swap(member.backlog);
  Release(member);
  busy_.erase(member.self);
  member.place = WatchMember::Place::kCutOff;
  member.state = Watch::State::kOverflow;
}

std::uint64_t WatchGroup::BytesOfSlowestLocked() {
  std::uint64_t bytes = 0;
  for (const WatchMember* member : busy_)
    if (HasByteLimit(*member)) bytes = std::max(bytes, PendingBytes(*member));
  return bytes;
}

std::uint64_t WatchGroup::BytesOfSlowest() {
  std::lock_guard lock(mutex_);
  return BytesOfSlowestLocked();
}

void WatchGroup::CutOffSlowest() {
  std::lock_guard lock(mutex_);
  const std::uint64_t bytes = BytesOfSlowestLocked();
  if (bytes == 0) return;  // they have been taken meanwhile
  for (auto it = busy_.begin(); it != busy_.end();) {
    WatchMember& member = **it++;
    if (HasByteLimit(member) && PendingBytes(member) >= bytes - bytes / 2) CutOff(member);
  }
}

void WatchGroup::Append(const Event& event, Wakes& wakes) {
  std::lock_guard lock(mutex_);
  if (end_ >= check_at_ || end_bytes_ >= check_at_bytes_) CutOffFullMembers();
  for (auto it = idle_.begin(); it != idle_.end();) {
    WatchMember& member = **it++;
    if (event.revision() <= member.after_revision) continue;
    MakeBusy(member, end_);
    if (member.wake != nullptr) wakes.push_back(member.wake);
  }
  if (busy_.empty()) return;
  entries_.push_back({event, busy_.size(), end_bytes_});
  ++end_;
  const std::size_t bytes = BytesKeptAlive(event);
  end_bytes_ += bytes;
  buffered_.fetch_add(bytes, std::memory_order_relaxed);
}

void WatchGroup::Close(Wakes& wakes) {
  std::lock_guard lock(mutex_);
  for (WatchMember* member : busy_) member->state = Watch::State::kClosed;
  for (WatchMember* member : idle_) {
    member->state = Watch::State::kClosed;
    if (member->wake != nullptr) wakes.push_back(member->wake);
  }
}

bool WatchGroup::Pending(const WatchMember& member) const {
  return !member.backlog.empty() || (member.place == WatchMember::Place::kBusy && member.next < end_);
}

Watch::State WatchGroup::Take(WatchMember& member, std::size_t max, std::vector<Event>& out) {
  std::lock_guard lock(mutex_);
  std::size_t before = out.size();
  for (; max > 0 && !member.backlog.empty(); --max) {
    out.push_back(std::move(member.backlog.front()));
    member.backlog.pop_front();
  }
  if (member.place == WatchMember::Place::kBusy) {
    for (; max > 0 && member.next < end_; ++member.next) {
      Entry& entry = At(member.next);
      bool last = --entry.readers == 0;
      if (entry.event.revision() <= member.after_revision) continue;
      if (last) {
        out.push_back(std::move(entry.event));
      } else {
        out.push_back(entry.event);
      }
      --max;
    }
    DropUnwanted();
  }
  if (out.size() > before) member.delivered = std::max(member.delivered, out.back().revision());

  if (Pending(member)) return Watch::State::kOpen;
  if (member.place == WatchMember::Place::kBusy) {
    idle_.splice(idle_.end(), busy_, member.self);
    member.place = WatchMember::Place::kIdle;
  }
  return member.state;
}

bool WatchGroup::SetWake(WatchMember& member, std::shared_ptr<const std::function<void()>> wake) {
  std::lock_guard lock(mutex_);
  member.wake = std::move(wake);
  return Pending(member) || member.state != Watch::State::kOpen;
}

std::int64_t WatchGroup::DeliveredRevision(WatchMember& member, std::int64_t published) {
  std::lock_guard lock(mutex_);
  std::int64_t delivered = member.delivered;
  if (!member.backlog.empty()) {
    delivered = member.backlog.front().revision() - 1;
  } else if (member.place != WatchMember::Place::kCutOff) {
    // The member skips events at or below after_revision, which may be ahead of `published`.
    delivered = std::max(published, member.after_revision);
    if (member.place == WatchMember::Place::kBusy) {
      std::uint64_t s = member.next;
      while (s < end_ && At(s).event.revision() <= member.after_revision) ++s;
      if (s < end_) delivered = At(s).event.revision() - 1;
    }
  }
  member.delivered = std::max(member.delivered, delivered);
  return member.delivered;
}

}  // namespace terrarium::storage
