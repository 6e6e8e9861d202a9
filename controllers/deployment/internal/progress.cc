#include "controllers/deployment/internal/progress.h"

#include <algorithm>
#include <utility>

#include "api/json_access.h"
#include "controllers/deployment/internal/conditions.h"

namespace terrarium::controllers::deployment {
namespace {

using api::IntAt;
using api::Json;
using api::StringAt;

// For example: ReplicaSet "web-1" is progressing. Names the Deployment while it has no set of its template.
std::string ProgressMessage(const Progress& progress, std::string_view what) {
  std::string subject =
      progress.new_set.empty() ? "Deployment \"" + progress.name : "ReplicaSet \"" + progress.new_set;
  return subject.append("\" ").append(what);
}

// The condition's lastUpdateTime plus the deadline; nullopt when no deadline applies. DIVERGES: the rollout
// fails exactly at that time. Kubernetes checks a second later, since its timers are not exact.
std::optional<api::Time> DueOf(const Progress& progress, const Json* condition) {
  if (condition == nullptr || !progress.deadline) return std::nullopt;
  std::string_view reason = StringAt(*condition, "reason");
  // No deadline applies once it has been exceeded, nor between the end of a rollout and the start of the next
  // one.
  if (reason == kSetAvailable || reason == kDeadlineExceeded) return std::nullopt;
  std::optional<api::Time> last = api::ParseTime(StringAt(*condition, "lastUpdateTime"));
  if (!last) return std::nullopt;
  return *last + *progress.deadline;
}

// Each step of progress renews lastUpdateTime, with the same reason. lastTransitionTime stays while the
// status stays True.
void SetProgressing(const Progress& progress, api::Time now, Json& conditions) {
  Json condition =
      MakeCondition({kProgressing, "True", kSetUpdated, ProgressMessage(progress, "is progressing.")}, now);
  if (const Json* before = deployment::FindCondition(conditions, kProgressing)) {
    if (StringAt(*before, "status") == "True")
      condition["lastTransitionTime"] = StringAt(*before, "lastTransitionTime");
    RemoveCondition(conditions, kProgressing);
  }
  conditions.push_back(std::move(condition));
}

}  // namespace

Counters CountersOf(const Json& status) {
  Counters counters;
  counters.observed_generation = IntAt(status, 0, "observedGeneration");
  counters.replicas = IntAt(status, 0, "replicas");
  counters.updated = IntAt(status, 0, "updatedReplicas");
  counters.ready = IntAt(status, 0, "readyReplicas");
  counters.available = IntAt(status, 0, "availableReplicas");
  counters.unavailable = IntAt(status, 0, "unavailableReplicas");
  if (const Json* terminating = api::Find(status, "terminatingReplicas"))
    counters.terminating = terminating->get<std::int64_t>();
  counters.terminating_pods = counters.terminating.value_or(0);
  return counters;
}

Counters Count(std::span<const FactsPtr> sets, const CountOptions& options) {
  Counters counters;
  counters.observed_generation = options.generation;
  if (options.terminating) counters.terminating = 0;
  std::int64_t wanted = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const ReplicaSetFacts& set = *sets[i];
    wanted += set.size.replicas;
    counters.replicas += set.size.status_replicas;
    if (i == options.new_index) counters.updated = set.size.status_replicas;
    counters.ready += set.ready;
    counters.available += set.size.available;
    if (set.observed && !set.terminating) counters.terminating.reset();
    if (counters.terminating) *counters.terminating += set.terminating.value_or(0);
    counters.terminating_pods += set.size.terminating;
  }
  counters.unavailable = std::max<std::int64_t>(wanted - counters.available, 0);
  return counters;
}

Json StatusOf(const Counters& counters, std::optional<std::int64_t> collision_count, Json conditions) {
  Json status = Json::object();
  const std::pair<const char*, std::int64_t> numbers[] = {
      {"observedGeneration", counters.observed_generation},
      {"replicas", counters.replicas},
      {"updatedReplicas", counters.updated},
      {"readyReplicas", counters.ready},
      {"availableReplicas", counters.available},
      {"unavailableReplicas", counters.unavailable}};
  for (const auto& [key, number] : numbers)
    if (number != 0) status[key] = number;
  if (counters.terminating) status["terminatingReplicas"] = *counters.terminating;
  if (collision_count) status["collisionCount"] = *collision_count;
  if (!conditions.empty()) status["conditions"] = std::move(conditions);
  return status;
}

bool IsComplete(const DeploymentSize& deployment, std::int64_t generation, const Counters& counters) {
  const bool none_going = !deployment.waits_for_termination || counters.terminating_pods == 0;
  return counters.updated == deployment.replicas && counters.replicas == deployment.replicas &&
         counters.available == deployment.replicas && counters.observed_generation >= generation &&
         none_going;
}

bool HasProgressed(const DeploymentSize& deployment, const Counters& before, const Counters& now) {
  if (deployment.waits_for_termination && now.terminating_pods < before.terminating_pods) return true;
  return now.updated > before.updated || now.replicas - now.updated < before.replicas - before.updated ||
         now.ready > before.ready || now.available > before.available;
}

void JudgeAvailability(const DeploymentSize& deployment, const Counters& counters, api::Time now,
                       Json& conditions) {
  const Condition enough{kAvailable, "True", "MinimumReplicasAvailable",
                         "Deployment has minimum availability."};
  const Condition too_few{kAvailable, "False", "MinimumReplicasUnavailable",
                          "Deployment does not have minimum availability."};
  const bool available = counters.available >= deployment.replicas - deployment.max_unavailable;
  SetCondition(conditions, MakeCondition(available ? enough : too_few, now));
}

void JudgeProgress(const Progress& progress, api::Time now, Json& conditions) {
  if (!progress.deadline) return RemoveCondition(conditions, kProgressing);
  const Json* current = deployment::FindCondition(conditions, kProgressing);
  // The rollout is complete. Scaling and failing pods do not change its condition.
  const bool was_complete = progress.now.replicas == progress.now.updated && current != nullptr &&
                            StringAt(*current, "reason") == kSetAvailable;
  if (was_complete) return;
  if (IsComplete(progress.deployment, progress.generation, progress.now)) {
    std::string message = ProgressMessage(progress, "has successfully progressed.");
    SetCondition(conditions, MakeCondition({kProgressing, "True", kSetAvailable, std::move(message)}, now));
  } else if (HasProgressed(progress.deployment, progress.before, progress.now)) {
    SetProgressing(progress, now, conditions);
  } else if (std::optional<api::Time> due = DueOf(progress, current); due && *due <= now) {
    std::string message = ProgressMessage(progress, "has timed out progressing.");
    SetCondition(conditions,
                 MakeCondition({kProgressing, "False", kDeadlineExceeded, std::move(message)}, now));
  }
}

std::optional<api::Time> FailsAt(const Progress& progress, const Json& conditions) {
  if (IsComplete(progress.deployment, progress.generation, progress.now)) return std::nullopt;
  return DueOf(progress, deployment::FindCondition(conditions, kProgressing));
}

}  // namespace terrarium::controllers::deployment
