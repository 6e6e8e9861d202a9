#include "controllers/job/internal/backoff.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;

using Names = std::vector<std::string_view>;

// The latest finish of those statuses and `before`; nullopt as soon as one of them has not finished.
std::optional<api::Time> LatestFinish(std::optional<api::Time> before, const Json& statuses,
                                      const Names* only) {
  std::optional<api::Time> latest = before;
  for (const Json& status : statuses) {
    std::string_view name = api::StringAt(status, "name");
    if (only != nullptr && std::find(only->begin(), only->end(), name) == only->end()) continue;
    std::optional<api::Time> finished =
        api::ParseTime(api::StringAt(status, "state", "terminated", "finishedAt"));
    if (!finished) return std::nullopt;
    latest = std::max(latest.value_or(*finished), *finished);
  }
  return latest;
}

// Sidecars end after the containers that they serve.
std::optional<api::Time> ContainersFinished(const Json& pod) {
  Names sidecars;
  for (const Json& container : api::ListAt(pod, "spec", "initContainers"))
    if (api::StringAt(container, "restartPolicy") == "Always")
      sidecars.push_back(api::StringAt(container, "name"));
  const auto latest = LatestFinish(std::nullopt, api::ListAt(pod, "status", "containerStatuses"), nullptr);
  return LatestFinish(latest, api::ListAt(pod, "status", "initContainerStatuses"), &sidecars);
}

std::optional<api::Time> BecameNotReady(const Json& pod) {
  const Json* condition = api::FindCondition(pod, "Ready");
  if (condition == nullptr || api::StringAt(*condition, "status") != "False") return std::nullopt;
  return api::ParseTime(api::StringAt(*condition, "lastTransitionTime"));
}

// The deletionTimestamp is when the pod is to be gone at the latest.
std::optional<api::Time> DeletionBegan(const Json& pod) {
  std::optional<api::Time> gone_by = api::ParseTime(api::StringAt(pod, "metadata", "deletionTimestamp"));
  if (!gone_by) return std::nullopt;
  return *gone_by - std::chrono::seconds(api::IntAt(pod, 0, "metadata", "deletionGracePeriodSeconds"));
}

api::Duration Remaining(std::int64_t failures, api::Time last_failure, api::Time now) {
  if (failures <= 0) return api::Duration::zero();
  api::Duration backoff = kBackoffFirst;
  for (std::int64_t i = 1; i < failures && backoff < kBackoffMost; ++i)
    backoff = std::min(backoff * 2, kBackoffMost);
  return std::max(last_failure + backoff - now, api::Duration::zero());
}

}  // namespace

api::Time FinishTimeOf(const Json& pod) {
  if (auto time = ContainersFinished(pod)) return *time;
  if (auto time = BecameNotReady(pod)) return *time;
  if (auto time = DeletionBegan(pod)) return *time;
  return api::ParseTime(api::StringAt(pod, "metadata", "creationTimestamp")).value_or(api::Time());
}

BackoffRecord WithFinished(BackoffRecord record, std::vector<api::Time> succeeded,
                           std::vector<api::Time> failed) {
  if (!succeeded.empty()) {
    record = {};
    const api::Time last_success = *std::max_element(succeeded.begin(), succeeded.end());
    std::erase_if(failed, [last_success](api::Time failure) { return failure <= last_success; });
  }
  if (failed.empty()) return record;
  record.failures += static_cast<int>(failed.size());
  record.last_failure = *std::max_element(failed.begin(), failed.end());
  return record;
}

api::Duration RemainingBackoff(const BackoffRecord& record, api::Time now) {
  return Remaining(record.failures, record.last_failure.value_or(api::Time()), now);
}

api::Duration RemainingIndexBackoff(const PodFacts* kept, api::Time now) {
  if (kept == nullptr) return api::Duration::zero();
  return Remaining(kept->AllIndexFailures() + 1, kept->finish_time, now);
}

IndexesReady IndexesPastBackoff(const std::vector<int>& pending, const std::map<int, const PodFacts*>& kept,
                                api::Time now) {
  IndexesReady ready;
  std::optional<api::Duration> first;
  for (int index : pending) {
    auto it = kept.find(index);
    const api::Duration wait = RemainingIndexBackoff(it == kept.end() ? nullptr : it->second, now);
    if (wait == api::Duration::zero()) {
      ready.indexes.push_back(index);
    } else {
      first = std::min(first.value_or(wait), wait);
    }
  }
  if (ready.indexes.empty()) ready.wait = first.value_or(api::Duration::zero());
  return ready;
}

}  // namespace terrarium::controllers::job
