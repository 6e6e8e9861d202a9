#pragma once

// The pods that wait for a node. Pods to be tried are handed out by priority, then in order of arrival.
// Unschedulable pods wait by class: after a change only one pod of a class is tried again, and the next one
// only when that succeeded, so that the cost of a change grows with the number of classes, not of pods.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "api/base/clock.h"
#include "kubelet-fake/scheduler/internal/pod_class.h"
#include "kubelet-fake/scheduler/internal/pod_record.h"

namespace terrarium::kubelet_fake::scheduling {

class SchedulingQueue {
 public:
  // A pod that has not been tried yet, or has changed since.
  void Add(PodRecord& pod);
  void AddGated(PodRecord& pod);
  // No node is feasible for it.
  void AddUnschedulable(PodRecord& pod, api::Time now);
  // No node is feasible for it, and its victims are being evicted: it is not tried before EndPreemption().
  void AddPreempting(PodRecord& pod, api::Time now);
  void EndPreemption(PodRecord& pod);
  // Its binding failed.
  void AddErrored(PodRecord& pod, api::Time now);
  // From any place.
  void Remove(PodRecord& pod);

  // Makes the longest waiting pod of the class active. One without a nominated node goes first: where such a
  // pod fits, all others do. The reverse does not hold, so a change of a node concerns each pod that is
  // nominated to it (Try).
  void TryOneOf(const PodClass& pod_class, api::Time now);
  // Makes the pod active if it waits.
  void Try(PodRecord& pod, api::Time now);
  // The pod was nominated to a node, or is no longer.
  void NominationChanged(PodRecord& pod);
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
    std::set<PodRecord*, ByOrder> nominated;  // the ones that have a nominated node
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
  void NoteFailure(PodRecord& pod, api::Time now);

  std::uint64_t last_order_ = 0;
  std::set<PodRecord*, ByPriority> active_;
  std::set<PodRecord*, ByBackoff> backoff_;
  std::set<PodRecord*, ByBackoff> error_backoff_;
  std::map<std::int64_t, WaitingClass> waiting_;
  std::size_t waiting_pods_ = 0;  // the preempting ones included
  std::size_t gated_ = 0;
};

}  // namespace terrarium::kubelet_fake::scheduling
