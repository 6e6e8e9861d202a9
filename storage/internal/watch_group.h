#pragma once

// The watches of one query and the buffer they share (see watch_hub.h).

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "storage/internal/watch_hub.h"
#include "storage/store.h"

namespace terrarium::storage {

// The bytes of the entries of all groups.
using BufferedBytes = std::atomic<std::uint64_t>;

// One subscriber. The group's mutex guards all members but after_revision and the two limits, which are
// constant.
struct WatchMember {
  std::int64_t after_revision;  // skips buffered events at or below this revision
  std::size_t buffer_events;
  std::size_t buffer_bytes;
  // The replay, delivered before the shared buffer.
  std::deque<Event> backlog;
  Watch::State state = Watch::State::kOpen;
  std::shared_ptr<const std::function<void()>> wake;
  std::int64_t delivered = 0;

  enum class Place { kIdle, kBusy, kCutOff };
  Place place = Place::kIdle;
  std::list<WatchMember*>::iterator self;  // in idle_ or busy_
  std::uint64_t next = 0;                  // busy: sequence number of the first entry not taken
};

// Invariants: An idle member has nothing pending; the next event for it wakes it and makes it busy. A busy
// member has been woken, and since then no Take() has left it with nothing pending. Only busy members are
// readers of entries.
class WatchGroup {
 public:
  // `buffered` outlives the group.
  explicit WatchGroup(BufferedBytes& buffered) : buffered_(buffered) {}

  void Join(WatchMember& member);
  void Leave(WatchMember& member);
  void Append(const Event& event, Wakes& wakes);
  void Close(Wakes& wakes);

  Watch::State Take(WatchMember& member, std::size_t max, std::vector<Event>& out);
  // Returns whether the caller must call `wake` immediately.
  bool SetWake(WatchMember& member, std::shared_ptr<const std::function<void()>> wake);
  // The bytes that are pending for the slowest member whose buffer has a limit of bytes.
  std::uint64_t BytesOfSlowest();
  // Cuts off every member with such a limit that has at least half of BytesOfSlowest() pending.
  void CutOffSlowest();

  // `published`: all events up to this revision were appended before this call.
  std::int64_t DeliveredRevision(WatchMember& member, std::int64_t published);

  // Number of Watch objects that refer to the group. Guarded by the hub, which drops the group with the last
  // one.
  std::size_t subscribers = 0;

 private:
  struct Entry {
    Event event;
    std::size_t readers;        // busy members that have not taken it
    std::uint64_t begin_bytes;  // the bytes of all entries before it
  };

  std::uint64_t FirstSequence() const { return end_ - entries_.size(); }
  Entry& At(std::uint64_t sequence) { return entries_[static_cast<std::size_t>(sequence - FirstSequence())]; }
  // The bytes of all entries before the one of this sequence number.
  std::uint64_t BytesBefore(std::uint64_t sequence) {
    return sequence == end_ ? end_bytes_ : At(sequence).begin_bytes;
  }
  std::uint64_t PendingBytes(const WatchMember& member) { return end_bytes_ - BytesBefore(member.next); }
  bool Pending(const WatchMember& member) const;
  void MakeBusy(WatchMember& member, std::uint64_t next);
  // Gives up the member's claim on the entries it has not taken.
  void Release(WatchMember& member);
  void DropUnwanted();
  bool IsFull(const WatchMember& member);
  // Puts off CutOffFullMembers() no longer than until the member can be full.
  void CheckInTime(const WatchMember& member);
  void CutOffFullMembers();
  void CutOff(WatchMember& member);
  std::uint64_t BytesOfSlowestLocked();

  BufferedBytes& buffered_;
  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::uint64_t end_ = 0;        // sequence number of the next entry
  std::uint64_t end_bytes_ = 0;  // the bytes of all entries so far
  std::list<WatchMember*> idle_;
  std::list<WatchMember*> busy_;
  // No busy member has a full buffer before end_ or end_bytes_ reaches these, so Append need not check every
  // busy member for each event.
  std::uint64_t check_at_ = UINT64_MAX;
  std::uint64_t check_at_bytes_ = UINT64_MAX;
};

}  // namespace terrarium::storage
