#include "controllers/statefulset/internal/replica_plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "controllers/statefulset/internal/identity.h"

namespace terrarium::controllers::statefulset {
namespace {

bool IsUnavailable(const SetSpec& spec, const PodFacts& pod, api::Time now) {
  return pod.deleting || !pod.Available(spec.min_ready, now);
}

bool IsUnavailable(const SetSpec& spec, const Replica& replica, api::Time now) {
  return replica.pod == nullptr || IsUnavailable(spec, replica.pod->facts, now);
}

bool IsOutdated(const Replica& replica, std::string_view update_revision) {
  if (replica.pod == nullptr) return false;
  const PodFacts& pod = replica.pod->facts;
  return !pod.deleting && pod.revision != update_revision;
}

// Without the gate MaxUnavailableStatefulSet: one pod at a time, and none while a pod that is above it in
// order is not available.
std::vector<const Replica*> NextPodToUpdate(const SetSpec& spec, const std::vector<Replica>& replicas,
                                            std::string_view update_revision, api::Time now) {
  for (std::size_t i = replicas.size(); i-- > static_cast<std::size_t>(spec.UpdateFrom());) {
    if (IsOutdated(replicas[i], update_revision)) return {&replicas[i]};
    if (IsUnavailable(spec, replicas[i], now)) break;
  }
  return {};
}

}  // namespace

SetPods SortPods(std::string_view set, const SetSpec& spec, const std::vector<StatefulPodPtr>& pods,
                 api::Time now) {
  SetPods sorted;
  // Larger ordinals are not read from a pod's name, as in Kubernetes.
  const std::int64_t last = std::min(spec.End(), std::int64_t{std::numeric_limits<int>::max()});
  const auto ordinals = static_cast<std::size_t>(std::max<std::int64_t>(last - spec.start + 1, 0));
  sorted.replicas.resize(std::min(ordinals, pods.size() + kOrdinalsAhead));
  sorted.complete = sorted.replicas.size() == ordinals;
  for (std::size_t i = 0; i < sorted.replicas.size(); ++i)
    sorted.replicas[i].ordinal = spec.start + static_cast<int>(i);
  std::vector<std::pair<int, StatefulPodPtr>> condemned;
  for (const StatefulPodPtr& pod : pods) {
    const int ordinal = OrdinalOf(set, pod->facts.name);
    if (ordinal == kNoOrdinal) continue;
    if (!spec.Contains(ordinal)) {
      condemned.emplace_back(ordinal, pod);
      continue;
    }
    const auto place = static_cast<std::size_t>(ordinal - spec.start);
    if (place < sorted.replicas.size()) sorted.replicas[place].pod = pod;
  }
  std::sort(condemned.begin(), condemned.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  auto count_unavailable = [&](int ordinal) {
    ++sorted.unavailable;
    if (!sorted.first_unavailable) sorted.first_unavailable = ordinal;
  };
  for (const Replica& replica : sorted.replicas)
    if (IsUnavailable(spec, replica, now)) count_unavailable(replica.ordinal);
  for (auto it = condemned.rbegin(); it != condemned.rend(); ++it)
    if (IsUnavailable(spec, it->second->facts, now)) count_unavailable(it->first);
  for (auto& [ordinal, pod] : condemned) sorted.condemned.push_back(std::move(pod));
  return sorted;
}

bool UsesCurrentRevision(const SetSpec& spec, int ordinal, int current_replicas) {
  if (spec.on_delete) return false;
  return ordinal - spec.start < spec.partition.value_or(current_replicas);
}

ReplicaStep NextStep(const SetSpec& spec, const Replica& replica, api::Time now) {
  using Action = ReplicaStep::Action;
  if (replica.pod == nullptr) return {.action = Action::kCreate};
  const PodFacts& pod = replica.pod->facts;
  // A pod that has succeeded is replaced too: evicted and stopped pods end with the code of their containers.
  if (pod.Ended()) {
    if (pod.deleting) return {.action = Action::kAwait, .awaiting = "the end of a pod that is deleted"};
    return {.action = Action::kReplaceEnded};
  }
  ReplicaStep step{.action = Action::kKeep, .restores_claims = pod.phase == api::Phase::kPending};
  if (spec.parallel) return step;
  if (pod.deleting)
    step.awaiting = "the end of a pod that is deleted";
  else if (!pod.RunningAndReady())
    step.awaiting = "a pod to be running and ready";
  else if (!pod.Available(spec.min_ready, now))
    step.awaiting = "a pod to be available";
  if (!step.awaiting.empty()) step.action = Action::kAwait;
  return step;
}

bool EndsSync(const SetSpec& spec, const ReplicaStep& step) {
  return !spec.parallel && step.action != ReplicaStep::Action::kKeep;
}

CondemnedStep NextCondemnedStep(const SetSpec& spec, const PodFacts& pod, bool is_first_unavailable,
                                api::Time now) {
  if (pod.deleting) return spec.parallel ? CondemnedStep::kSkip : CondemnedStep::kAwait;
  if (spec.parallel || is_first_unavailable) return CondemnedStep::kDelete;
  // An unavailable pod below goes last, so that the pods that remain are healthy for as long as possible.
  const bool healthy = pod.RunningAndReady() && pod.Available(spec.min_ready, now);
  return healthy ? CondemnedStep::kDelete : CondemnedStep::kAwait;
}

int CountUnavailable(const SetSpec& spec, const std::vector<Replica>& replicas, api::Time now) {
  return static_cast<int>(std::count_if(replicas.begin(), replicas.end(), [&](const Replica& replica) {
    return IsUnavailable(spec, replica, now);
  }));
}

std::vector<const Replica*> PodsToUpdate(const SetSpec& spec, const std::vector<Replica>& replicas,
                                         std::string_view update_revision, api::Time now) {
  if (!spec.max_unavailable) return NextPodToUpdate(spec, replicas, update_revision, now);
  const int room = *spec.max_unavailable - CountUnavailable(spec, replicas, now);
  std::vector<const Replica*> chosen;
  for (std::size_t i = replicas.size(); i-- > static_cast<std::size_t>(spec.UpdateFrom());) {
    if (static_cast<int>(chosen.size()) >= room) break;
    if (IsOutdated(replicas[i], update_revision)) chosen.push_back(&replicas[i]);
  }
  return chosen;
}

}  // namespace terrarium::controllers::statefulset
