#pragma once

// Deletes Events some time after they were last written, as etcd does with those of kube-apiserver
// (--event-ttl). The deletions are visible to watches.

#include <deque>
#include <memory>
#include <vector>

#include "api/base/clock.h"
#include "api/base/executor.h"
#include "api/object.h"
#include "storage/store.h"

namespace terrarium::testbed {

// There is no timer per Event: those that were written within a period are collected at its end and expire
// together, so that an Event lives at most one period longer than the TTL. etcd's leases do the same with 60
// s. Without Events there is no timer at all. All timers are housekeeping.
//
// Works on its lane; the constructor and Start() may be called before the lane runs. Clock, lane and store
// outlive it.
class EventExpiry : public std::enable_shared_from_this<EventExpiry> {
 public:
  static constexpr api::Duration kPeriod = std::chrono::seconds(30);

  EventExpiry(const api::Clock& clock, api::Executor& lane, storage::Store& store, api::Duration ttl);
  ~EventExpiry();

  // Deletes the Events of an earlier server that have outlived their TTL, and follows the others and new
  // ones.
  void Start();

 private:
  using WeakEvent = std::weak_ptr<const api::Object>;
  struct Batch {
    api::Time expires;
    std::vector<WeakEvent> events;  // also those that were replaced or deleted since
  };

  void CollectLater();
  void Collect();
  void Schedule();
  void ExpireDue();
  void Delete(const Batch& batch);

  const api::Clock& clock_;
  api::Executor& lane_;
  storage::Store& store_;
  const api::Duration ttl_;
  std::unique_ptr<storage::Watch> watch_;
  std::deque<Batch> batches_;  // the first to expire first
  api::TimerId collect_timer_ = 0;
  api::TimerId expiry_timer_ = 0;
};

// When the Event was last written, as far as its own timestamps show.
api::Time LastWritten(const api::Json& event);

}  // namespace terrarium::testbed
