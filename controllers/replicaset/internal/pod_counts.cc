#include "controllers/replicaset/internal/pod_counts.h"

#include <algorithm>

namespace terrarium::controllers::replicaset {

PodShare ShareOf(const PodFacts& facts, bool selected, bool labelled) {
  PodShare share;
  share.live = selected && facts.active;
  share.labelled = share.live && labelled;
  share.ready = share.live && facts.ready;
  share.terminating = selected && facts.terminating;
  if (share.ready) share.ready_since = facts.ready_since;
  return share;
}

void PodCounts::Add(const PodShare& pod) {
  live_ += pod.live;
  labelled_ += pod.labelled;
  terminating_ += pod.terminating;
  ready_ += pod.ready;
  if (!pod.ready) return;
  if (pod.ready_since <= split_)
    ++available_;
  else
    ++waiting_[pod.ready_since];
}

void PodCounts::Remove(const PodShare& pod) {
  live_ -= pod.live;
  labelled_ -= pod.labelled;
  terminating_ -= pod.terminating;
  ready_ -= pod.ready;
  if (!pod.ready) return;
  if (pod.ready_since <= split_) {
    --available_;
    return;
  }
  auto waiting = waiting_.find(pod.ready_since);
  if (--waiting->second == 0) waiting_.erase(waiting);
}

int PodCounts::AvailableAt(api::Time now) {
  if (min_ready_ == api::Duration::zero()) return ready_;
  split_ = std::max(split_, now - min_ready_);
  while (!waiting_.empty() && waiting_.begin()->first <= split_) {
    available_ += waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
  }
  return available_;
}

std::optional<api::Time> PodCounts::NextAvailable() const {
  if (min_ready_ == api::Duration::zero() || waiting_.empty() || waiting_.begin()->first == kNoTime)
    return std::nullopt;
  return waiting_.begin()->first + min_ready_;
}

}  // namespace terrarium::controllers::replicaset
