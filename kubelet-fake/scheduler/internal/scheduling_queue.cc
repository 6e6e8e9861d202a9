#include "kubelet-fake/scheduler/internal/scheduling_queue.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "api/base/check.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

constexpr api::Duration kBackoffFirst = std::chrono::seconds(1);
constexpr api::Duration kBackoffMost = std::chrono::seconds(10);

// 1 s, 2 s, 4 s, 8 s, 10 s, 10 s, ...
api::Duration BackoffAfter(int failures) {
  constexpr int kDoublingsMost = 4;
  return std::min(kBackoffMost, kBackoffFirst * (1 << std::min(failures - 1, kDoublingsMost)));
}

}  // namespace

bool SchedulingQueue::ByPriority::operator()(const PodRecord* a, const PodRecord* b) const {
  const std::int64_t priority_a = a->pod_class->wants.priority;
  const std::int64_t priority_b = b->pod_class->wants.priority;
  return priority_a != priority_b ? priority_a > priority_b : a->order < b->order;
}

bool SchedulingQueue::ByBackoff::operator()(const PodRecord* a, const PodRecord* b) const {
  return a->backoff_until != b->backoff_until ? a->backoff_until < b->backoff_until : ByPriority()(a, b);
}

void SchedulingQueue::Add(PodRecord& pod) {
  pod.order = ++last_order_;
  Enter(pod, QueuePlace::kActive);
}

void SchedulingQueue::AddGated(PodRecord& pod) { Enter(pod, QueuePlace::kGated); }

void SchedulingQueue::AddUnschedulable(PodRecord& pod, api::Time now) {
  NoteFailure(pod, now);
  Enter(pod, QueuePlace::kWaiting);
}

void SchedulingQueue::AddPreempting(PodRecord& pod, api::Time now) {
  NoteFailure(pod, now);
  Enter(pod, QueuePlace::kPreempting);
}

void SchedulingQueue::EndPreemption(PodRecord& pod) {
  CHECK(pod.place == QueuePlace::kPreempting);
  Remove(pod);
  Enter(pod, QueuePlace::kWaiting);
}

void SchedulingQueue::NoteFailure(PodRecord& pod, api::Time now) {
  ++pod.unschedulable_count;
  pod.error_count = 0;
  pod.order = ++last_order_;
  pod.failed_at = now;
  pod.backoff_until = now + BackoffAfter(pod.unschedulable_count);
}

void SchedulingQueue::AddErrored(PodRecord& pod, api::Time now) {
  ++pod.error_count;
  pod.order = ++last_order_;
  pod.failed_at = now;
  pod.backoff_until = now + BackoffAfter(pod.error_count);
  Enter(pod, QueuePlace::kErrorBackoff);
}

void SchedulingQueue::Enter(PodRecord& pod, QueuePlace place) {
  CHECK(pod.place == QueuePlace::kNone);
  pod.place = place;
  switch (place) {
    case QueuePlace::kNone: break;
    case QueuePlace::kActive: active_.insert(&pod); break;
    case QueuePlace::kBackoff: backoff_.insert(&pod); break;
    case QueuePlace::kErrorBackoff: error_backoff_.insert(&pod); break;
    case QueuePlace::kGated: ++gated_; break;
    case QueuePlace::kPreempting: ++waiting_pods_; break;
    case QueuePlace::kWaiting: {
      WaitingClass& waiting = waiting_[pod.pod_class->number];
      waiting.pod_class = pod.pod_class;
      pod.waits_as_nominated = pod.nominated != nullptr;
      (pod.waits_as_nominated ? waiting.nominated : waiting.pods).insert(&pod);
      ++waiting_pods_;
      break;
    }
  }
}

void SchedulingQueue::Remove(PodRecord& pod) {
  switch (std::exchange(pod.place, QueuePlace::kNone)) {
    case QueuePlace::kNone: break;
    case QueuePlace::kActive: active_.erase(&pod); break;
    case QueuePlace::kBackoff: backoff_.erase(&pod); break;
    case QueuePlace::kErrorBackoff: error_backoff_.erase(&pod); break;
    case QueuePlace::kGated: --gated_; break;
    case QueuePlace::kPreempting: --waiting_pods_; break;
    case QueuePlace::kWaiting: {
      const auto waiting = waiting_.find(pod.pod_class->number);
      (pod.waits_as_nominated ? waiting->second.nominated : waiting->second.pods).erase(&pod);
      if (waiting->second.pods.empty() && waiting->second.nominated.empty()) waiting_.erase(waiting);
      --waiting_pods_;
      break;
    }
  }
}

void SchedulingQueue::ToBackoffOrActive(PodRecord& pod, api::Time now) {
  Remove(pod);
  Enter(pod, pod.backoff_until > now ? QueuePlace::kBackoff : QueuePlace::kActive);
}

void SchedulingQueue::TryOneOf(const PodClass& pod_class, api::Time now) {
  const auto waiting = waiting_.find(pod_class.number);
  if (waiting == waiting_.end()) return;
  const WaitingClass& pods = waiting->second;
  ToBackoffOrActive(**(pods.pods.empty() ? pods.nominated : pods.pods).begin(), now);
}

void SchedulingQueue::Try(PodRecord& pod, api::Time now) {
  if (pod.place == QueuePlace::kWaiting) ToBackoffOrActive(pod, now);
}

void SchedulingQueue::NominationChanged(PodRecord& pod) {
  if (pod.place != QueuePlace::kWaiting || pod.waits_as_nominated == (pod.nominated != nullptr)) return;
  Remove(pod);
  Enter(pod, QueuePlace::kWaiting);
}

void SchedulingQueue::TryWaitingSince(api::Duration age, api::Time now) {
  std::vector<PodRecord*> old;
  for (const auto& [number, waiting] : waiting_) {
    for (const auto* pods : {&waiting.pods, &waiting.nominated}) {
      for (PodRecord* pod : *pods) {
        if (now - pod->failed_at <= age) break;  // in order of their failures: the others failed later
        old.push_back(pod);
      }
    }
  }
  for (PodRecord* pod : old) ToBackoffOrActive(*pod, now);
}

void SchedulingQueue::TryErrored(api::Time now) {
  while (!error_backoff_.empty() && (*error_backoff_.begin())->backoff_until <= now) {
    PodRecord& pod = **error_backoff_.begin();
    Remove(pod);
    Enter(pod, QueuePlace::kActive);
  }
}

std::optional<api::Time> SchedulingQueue::NextErrorRetry() const {
  if (error_backoff_.empty()) return std::nullopt;
  return (*error_backoff_.begin())->backoff_until;
}

PodRecord* SchedulingQueue::Pop(api::Time now) {
  while (!backoff_.empty() && (*backoff_.begin())->backoff_until <= now) {
    PodRecord& pod = **backoff_.begin();
    Remove(pod);
    Enter(pod, QueuePlace::kActive);
  }
  // An idle scheduler does not make pods sit out their backoff.
  if (!HasNext()) return nullptr;
  PodRecord* pod = active_.empty() ? *backoff_.begin() : *active_.begin();
  Remove(*pod);
  return pod;
}

SchedulingQueue::Sizes SchedulingQueue::sizes() const {
  return {active_.size(), backoff_.size() + error_backoff_.size(), waiting_pods_, gated_};
}

}  // namespace terrarium::kubelet_fake::scheduling
