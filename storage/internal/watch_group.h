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

#include "storage/store.h"
#include "storage/watch_hub.h"

namespace terrarium::storage {

class WatchGroup;

// One subscriber. Everything but the constants is guarded by its group's mutex.
struct WatchMember {
  std::int64_t after_revision;  // buffered events at or below it are not for this one
  std::size_t buffer_events;
  // Given out before the buffer: the replay, and after an overflow what had been pending.
  std::deque<Event> backlog;
  Watch::State state = Watch::State::kOpen;
  std::shared_ptr<const std::function<void()>> wake;
  std::int64_t delivered = 0;

  enum class Place { kIdle, kBusy, kCutOff };
  Place place = Place::kIdle;
  std::list<WatchMember*>::iterator self;  // in idle_ or busy_
  std::uint64_t next = 0;                  // busy: sequence number of the first entry not taken
};

// Invariants: an idle member has nothing pending, and the next event for it wakes it and makes it busy; a busy one has
// been woken and has not been told since that nothing is left. Entries are wanted by busy members only.
class WatchGroup {
 public:
  void Join(WatchMember& member);
  void Leave(WatchMember& member);
  void Append(const Event& event, Wakes& wakes);
  void Close(Wakes& wakes);

  Watch::State Take(WatchMember& member, std::size_t max, std::vector<Event>& out);
  // Whether `wake` is to be called at once.
  bool SetWake(WatchMember& member, std::shared_ptr<const std::function<void()>> wake);
  // `published`: a revision up to which everything had been appended before this call.
  std::int64_t DeliveredRevision(WatchMember& member, std::int64_t published);

  // Number of Watch objects that refer to the group; guarded by the hub, which drops the group with the last.
  std::size_t subscribers = 0;

 private:
  struct Entry {
    Event event;
    std::size_t readers;  // busy members that have not taken it
  };

  std::uint64_t FirstSequence() const { return end_ - entries_.size(); }
  Entry& At(std::uint64_t sequence) { return entries_[static_cast<std::size_t>(sequence - FirstSequence())]; }
  bool Pending(const WatchMember& member) const;
  void MakeBusy(WatchMember& member, std::uint64_t next);
  // Gives up the member's claim on the entries it has not taken.
  void Release(WatchMember& member);
  void DropUnwanted();
  void CutOffFullMembers();

  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::uint64_t end_ = 0;  // sequence number of the next entry
  std::list<WatchMember*> idle_;
  std::list<WatchMember*> busy_;
  // No buffer of a busy member is full before end_ reaches this: saves looking at each of them for each event.
  std::uint64_t check_full_at_ = UINT64_MAX;
};

}  // namespace terrarium::storage
