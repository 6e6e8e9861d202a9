#include <algorithm>
#include <utility>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "apiserver/internal/deletion.h"

namespace terrarium::apiserver {
namespace {

constexpr const char* kOrphanFinalizer = "orphan";
constexpr const char* kForegroundFinalizer = "foregroundDeletion";
constexpr std::int64_t kDefaultPodGraceSeconds = 30;

bool HasFinalizer(const Json& metadata, std::string_view name) {
  const Json& finalizers = api::ListAt(metadata, "finalizers");
  return std::find(finalizers.begin(), finalizers.end(), name) != finalizers.end();
}

// The finalizers by which the garbage collector learns what to do with dependents. A policy that the request
// names wins; then what an earlier delete asked for; then the kind's default.
bool SetPropagationFinalizers(const ResourceInfo& resource, const DeleteOptions& options, Json& metadata) {
  bool orphan = HasFinalizer(metadata, kOrphanFinalizer);
  bool foreground = HasFinalizer(metadata, kForegroundFinalizer);
  bool had_orphan = orphan, had_foreground = foreground;
  if (options.propagation) {
    orphan = *options.propagation == Propagation::kOrphan;
    foreground = *options.propagation == Propagation::kForeground;
  } else if (!orphan && !foreground) {
    orphan = resource.strategy->OrphansDependentsByDefault();
  }
  if (orphan == had_orphan && foreground == had_foreground) return false;
  Json finalizers = Json::array();
  for (const Json& f : api::ListAt(metadata, "finalizers"))
    if (f != kOrphanFinalizer && f != kForegroundFinalizer) finalizers.push_back(f);
  if (orphan) finalizers.push_back(kOrphanFinalizer);
  if (foreground) finalizers.push_back(kForegroundFinalizer);
  if (finalizers.empty())
    metadata.erase("finalizers");
  else
    metadata["finalizers"] = std::move(finalizers);
  return true;
}

void BumpGeneration(Json& metadata) {
  if (std::int64_t generation = api::IntAt(metadata, 0, "generation"); generation > 0)
    metadata["generation"] = generation + 1;
}

// The pod's own grace period unless the request names one; nothing waits for a pod that no kubelet knows or
// that has already ended.
std::int64_t PodGraceSeconds(const Json& pod, const DeleteOptions& options) {
  std::int64_t period = options.grace_period_seconds.value_or(
      api::IntAt(pod, kDefaultPodGraceSeconds, "spec", "terminationGracePeriodSeconds"));
  if (api::StringAt(pod, "spec", "nodeName").empty()) return 0;
  if (api::IsPodTerminal(pod)) return 0;
  return std::max<std::int64_t>(period, 0);
}

enum class Grace { kNotGraceful, kPending, kSet };

// Sets or shortens the deletion time of a pod. A pod that is going already can only go sooner.
Grace SetPodGrace(Json& pod, const DeleteOptions& options, api::Time now) {
  Json& metadata = pod["metadata"];
  if (api::Find(metadata, "deletionTimestamp") == nullptr) {
    std::int64_t period = PodGraceSeconds(pod, options);
    metadata["deletionTimestamp"] = api::FormatTime(now + std::chrono::seconds(period));
    metadata["deletionGracePeriodSeconds"] = period;
    BumpGeneration(metadata);
    return Grace::kSet;
  }
  std::int64_t current = api::IntAt(metadata, 0, "deletionGracePeriodSeconds");
  if (!options.grace_period_seconds || *options.grace_period_seconds >= current) return Grace::kPending;
  api::Time end = api::ParseTime(api::StringAt(metadata, "deletionTimestamp")).value_or(now);
  metadata["deletionTimestamp"] = api::FormatTime(end - std::chrono::seconds(current) +
                                                  std::chrono::seconds(*options.grace_period_seconds));
  metadata["deletionGracePeriodSeconds"] = *options.grace_period_seconds;
  return Grace::kSet;
}

// For kinds without a grace period: an object that finalizers hold is marked as going now.
void MarkAsDeleting(Json& metadata, api::Time now) {
  if (api::Find(metadata, "deletionTimestamp") == nullptr) {
    BumpGeneration(metadata);
    metadata["deletionTimestamp"] = api::FormatTime(now);
  }
  metadata["deletionGracePeriodSeconds"] = 0;
}

// Namespaces are emptied before they go: the namespace controller takes `kubernetes` off spec.finalizers at
// the end.
DeletionPlan PlanNamespaceDeletion(Json document, api::Time now) {
  Json& metadata = document["metadata"];
  bool held =
      !api::ListAt(document, "spec", "finalizers").empty() || !api::ListAt(metadata, "finalizers").empty();
  if (!held) return {DeletionPlan::Action::kRemove, std::move(document)};
  if (api::Find(metadata, "deletionTimestamp") != nullptr)
    return {DeletionPlan::Action::kNothing, std::move(document)};
  metadata["deletionTimestamp"] = api::FormatTime(now);
  document["status"]["phase"] = "Terminating";
  return {DeletionPlan::Action::kMark, std::move(document)};
}

}  // namespace

DeletionPlan PlanDeletion(const ResourceInfo& resource, Json document, const DeleteOptions& options,
                          api::Time now) {
  using Action = DeletionPlan::Action;
  if (resource.storage == "namespaces") return PlanNamespaceDeletion(std::move(document), now);
  Json& metadata = document["metadata"];
  Grace grace = resource.storage == "pods" ? SetPodGrace(document, options, now) : Grace::kNotGraceful;
  if (grace == Grace::kPending) {
    // Of a pod whose time is already up only finalizers are left, and they are not ours to wait for.
    bool held = !api::ListAt(metadata, "finalizers").empty() ||
                api::IntAt(metadata, 0, "deletionGracePeriodSeconds") > 0;
    return {held ? Action::kNothing : Action::kRemove, std::move(document)};
  }
  SetPropagationFinalizers(resource, options, metadata);
  bool held = !api::ListAt(metadata, "finalizers").empty();
  if (grace == Grace::kSet) {
    bool waits = held || api::IntAt(metadata, 0, "deletionGracePeriodSeconds") > 0;
    return {waits ? Action::kMark : Action::kMarkThenRemove, std::move(document)};
  }
  if (!held) return {Action::kRemove, std::move(document)};
  MarkAsDeleting(metadata, now);
  return {Action::kMark, std::move(document)};
}

}  // namespace terrarium::apiserver
