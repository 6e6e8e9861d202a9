#pragma once

// The pods that wait for a node. Pods to be tried are handed out by priority, then in order of arrival.
// Unschedulable pods wait by class: after a change only one pod of a class is tried again, and the next one
// only when that succeeded, so that the cost of a change grows with the number of classes, not of pods.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/base/clock.h"
#include "api/object.h"
#include "kubelet-fake/scheduler/internal/node_info.h"
#include "kubelet-fake/scheduler/internal/pod_class.h"

namespace terrarium::kubelet_fake::scheduling {

enum class QueuePlace {
  kNone,          // placed, being bound, or given up
  kActive,        // to be tried
  kBackoff,       // failed recently: to be tried when nothing else is
  kErrorBackoff,  // to be tried after a delay: the apiserver refused the binding
  kWaiting,       // for a change in the cluster
  kGated,         // for its scheduling gates to be removed
};

// What the scheduler knows of one pod.
struct PodRecord {
  api::ObjectPtr object;  // the newest state seen while it has no node
  PodClassPtr pod_class;
  NodeInfo* node = nullptr;  // where it counts: seen there, or being bound to it

  // The queue's own.
  QueuePlace place = QueuePlace::kNone;
  std::uint64_t order = 0;  // of arrival, or of the last failure
  int unschedulable_count = 0;
  int error_count = 0;  // in a row
  api::Time failed_at{};
  api::Time backoff_until{};

  int attempts = 0;
  std::string reported;  // the last message of the PodScheduled condition
  int reports_under_way = 0;
  bool bind_when_reported = false;
};

class SchedulingQueue {
 public:
  // A pod that has not been tried yet, or has changed since.
  void Add(PodRecord& pod);
  void AddGated(PodRecord& pod);
  // No node is feasible for it.
  void AddUnschedulable(PodRecord& pod, api::Time now);
  // Its binding failed.
  void AddErrored(PodRecord& pod, api::Time now);
  // From any place.
  void Remove(PodRecord& pod);

  // Makes the longest waiting pod of the class active.
  void TryOneOf(const PodClass& pod_class, api::Time now);
  // Makes every pod active that has waited longer than `age`, as a safety net.
  void TryWaitingSince(api::Duration age, api::Time now);
  // Makes pods active whose error backoff is over.
  void TryErrored(api::Time now);
  std::optional<api::Time> NextErrorRetry() const;

  // The next pod to be tried, taken out of the queue, or nullptr.
  PodRecord* Pop(api::Time now);
  bool HasNext() const { return !active_.empty() || !backoff_.empty(); }

  struct ByOrder {
    bool operator()(const PodRecord* a, const PodRecord* b) const { return a->order < b->order; }
  };
  struct WaitingClass {
    PodClassPtr pod_class;
    std::set<PodRecord*, ByOrder> pods;
  };
  // By number of the class.
  const std::map<std::int64_t, WaitingClass>& waiting() const { return waiting_; }

  struct Sizes {
    std::size_t active = 0;
    std::size_t backoff = 0;
    std::size_t unschedulable = 0;
    std::size_t gated = 0;
  };
  Sizes sizes() const;

 private:
  struct ByPriority {
    bool operator()(const PodRecord* a, const PodRecord* b) const;
  };
  struct ByBackoff {
    bool operator()(const PodRecord* a, const PodRecord* b) const;
  };

  void Enter(PodRecord& pod, QueuePlace place);
  void ToBackoffOrActive(PodRecord& pod, api::Time now);

  std::uint64_t last_order_ = 0;
  std::set<PodRecord*, ByPriority> active_;
  std::set<PodRecord*, ByBackoff> backoff_;
  std::set<PodRecord*, ByBackoff> error_backoff_;
  std::map<std::int64_t, WaitingClass> waiting_;
  std::size_t waiting_pods_ = 0;
  std::size_t gated_ = 0;
};

}  // namespace terrarium::kubelet_fake::scheduling
