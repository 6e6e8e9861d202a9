#include "controllers/deployment/internal/sync_state.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/deployment/internal/pod_template.h"
#include "controllers/deployment/internal/scale_plan.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::deployment {
namespace {

using api::IntAt;
using api::Json;
using api::ObjectAt;

constexpr std::int64_t kNever = std::numeric_limits<std::int32_t>::max();

// Kubernetes' value for "unlimited".
std::optional<std::int64_t> NumberAt(const Json& spec, std::string_view key) {
  const Json* number = api::Find(spec, key);
  if (number == nullptr || *number == kNever) return std::nullopt;
  return number->get<std::int64_t>();
}

std::size_t FindNew(const std::vector<FactsPtr>& sets, std::uint64_t digest, const Json& pod_template) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i]->template_digest != digest) continue;
    if (SameTemplate(ObjectAt(*sets[i]->object->Document(), "spec", "template"), pod_template)) return i;
  }
  return kNotThereYet;
}

// The merge patch that makes `to` of `from`: members that `to` has not are null in it. REQUIRES: `to` has no
// null.
Json MergeDifference(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  Json patch = Json::object();
  for (const auto& [key, value] : from.items())
    if (!to.contains(key)) patch[key] = nullptr;
  for (const auto& [key, value] : to.items()) {
    const Json* before = api::Find(from, key);
    if (before == nullptr)
      patch[key] = value;
    else if (*before != value)
      patch[key] = MergeDifference(*before, value);
  }
  return patch;
}

}  // namespace

ReplacementPolicy PolicyOf(const Json& spec, const api::FeatureGates& gates) {
  const bool gated = gates.Enabled(api::gate::kDeploymentPodReplacementPolicy) &&
                     gates.Enabled(api::gate::kDeploymentReplicaSetTerminatingReplicas);
  if (!gated) return ReplacementPolicy::kMixed;
  std::string_view policy = api::StringAt(spec, "podReplacementPolicy");
  if (policy == "TerminationStarted") return ReplacementPolicy::kTerminationStarted;
  if (policy == "TerminationComplete") return ReplacementPolicy::kTerminationComplete;
  return ReplacementPolicy::kMixed;
}

DeploymentSize SizeOf(const Json& deployment, ReplacementPolicy policy) {
  const Json& spec = ObjectAt(deployment, "spec");
  DeploymentSize size;
  size.replicas = IntAt(spec, 1, "replicas");
  size.status_replicas = IntAt(deployment, 0, "status", "replicas");
  size.rolling = api::StringAt(spec, "strategy", "type") != "Recreate";
  size.waits_for_termination = policy == ReplacementPolicy::kTerminationComplete;
  if (!size.rolling) return size;
  const Json& rolling = ObjectAt(spec, "strategy", "rollingUpdate");
  Fenceposts posts =
      ResolveFenceposts(api::Find(rolling, "maxSurge"), api::Find(rolling, "maxUnavailable"), size.replicas);
  size.max_surge = posts.surge;
  size.max_unavailable = std::min(posts.unavailable, size.replicas);
  return size;
}

const Json& SyncState::spec() const { return ObjectAt(*document, "spec"); }
const Json& SyncState::annotations() const { return ObjectAt(*document, "metadata", "annotations"); }
std::int64_t SyncState::generation() const { return IntAt(*document, 0, "metadata", "generation"); }
bool SyncState::paused() const { return api::BoolAt(spec(), "paused"); }

std::optional<api::Duration> SyncState::progress_deadline() const {
  std::optional<std::int64_t> seconds = NumberAt(spec(), "progressDeadlineSeconds");
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

std::optional<std::int64_t> SyncState::history_limit() const {
  return NumberAt(spec(), "revisionHistoryLimit");
}

std::int64_t SyncState::NextRevision() const {
  std::int64_t newest = 0;
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (i != new_index) newest = std::max(newest, sets[i]->revision.value_or(0));
  return newest + 1;
}

void SyncState::AddNew(FactsPtr set) {
  new_index = sets.size();
  sizes.push_back(set->size);
  sets.push_back(std::move(set));
}

Counters SyncState::CountNow() const {
  return Count(sets, {.generation = generation(), .new_index = new_index, .terminating = counts_terminating});
}

std::string SyncState::RoomText() const {
  const bool waits = size.waits_for_termination;
  std::int64_t pods = 0, terminating = 0;
  for (const ReplicaSetSize& set : sizes) {
    pods += waits ? set.Pods() : set.replicas;
    terminating += set.terminating;
  }
  const std::int64_t room =
      waits ? RoomForPods(size, sizes) : std::max<std::int64_t>(size.PodsMax() - pods, 0);
  std::string text = "room for " + std::to_string(room) + ": " + std::to_string(pods) + " of " +
                     std::to_string(size.PodsMax()) + " pods";
  if (waits) text += ", " + std::to_string(terminating) + " of them terminating";
  return text;
}

Json SyncState::Saw() const {
  Json all = Json::array();
  for (const ReplicaSetSize& set : sizes)
    all.push_back({{"name", set.name},
                   {"replicas", set.replicas},
                   {"statusReplicas", set.status_replicas},
                   {"available", set.available},
                   {"terminating", set.terminating}});
  return {{"replicas", size.replicas},
          {"maxSurge", size.max_surge},
          {"maxUnavailable", size.max_unavailable},
          {"waitsForTermination", size.waits_for_termination},
          {"replicaSets", std::move(all)}};
}

SyncStatePtr MakeSyncState(api::ObjectPtr deployment, std::vector<FactsPtr> sets,
                           std::uint64_t template_digest, const api::FeatureGates& gates) {
  auto sync = std::make_shared<SyncState>();
  sync->document = deployment->Document();
  sync->name = deployment->name();
  sync->deployment = std::move(deployment);
  sync->policy = PolicyOf(sync->spec(), gates);
  sync->size = SizeOf(*sync->document, sync->policy);
  sync->counts_terminating = gates.Enabled(api::gate::kDeploymentReplicaSetTerminatingReplicas);
  sync->hands_picker = gates.Enabled(api::gate::kDownscalePodPicker);
  std::sort(sets.begin(), sets.end(),
            [](const FactsPtr& a, const FactsPtr& b) { return IsOlder(a->size, b->size); });
  for (const FactsPtr& set : sets) sync->sizes.push_back(set->size);
  sync->sets = std::move(sets);
  sync->new_index = FindNew(sync->sets, template_digest, ObjectAt(sync->spec(), "template"));
  const Json& status = ObjectAt(*sync->document, "status");
  sync->conditions = api::ListAt(status, "conditions");
  if (api::Find(status, "collisionCount") != nullptr)
    sync->collision_count = IntAt(status, 0, "collisionCount");
  return sync;
}

std::vector<ScaledSet> StaleScales(const SyncState& sync) {
  std::vector<ScaledSet> stale;
  for (std::size_t i = 0; i < sync.sets.size(); ++i) {
    const bool clears = sync.sets[i]->has_stale_scale && !sync.sets[i]->object->header().deleting;
    if (clears) stale.push_back({.index = i, .replicas = sync.sizes[i].replicas});
  }
  return stale;
}

Json NewReplicaSet(const SyncState& sync, std::int64_t replicas) {
  const Json& spec = sync.spec();
  const std::string hash = TemplateHash(ObjectAt(spec, "template"), sync.collision_count);
  const std::string label(kTemplateHashLabel);
  Json pod_template = ObjectAt(spec, "template");
  pod_template["metadata"]["labels"][label] = hash;
  Json labels = pod_template["metadata"]["labels"];
  Json selector = ObjectAt(spec, "selector");
  selector["matchLabels"][label] = hash;
  Json annotations = NewSetChanges(sync.annotations(), Json::object(), sync.NextRevision());
  annotations.update(ReplicasChanges(Json::object(), Sized(sync.size, 0, replicas)));
  Json owner = ControllerReference(*sync.deployment, "apps/v1", "Deployment");
  Json set = {
      {"metadata",
       {{"name", ReplicaSetName(sync.name.name, hash)},
        {"namespace", sync.name.ns},
        {"labels", std::move(labels)},
        {"annotations", std::move(annotations)},
        {"ownerReferences", Json::array({std::move(owner)})}}},
      {"spec",
       {{"replicas", replicas}, {"selector", std::move(selector)}, {"template", std::move(pod_template)}}}};
  if (std::int64_t seconds = IntAt(spec, 0, "minReadySeconds"); seconds != 0)
    set["spec"]["minReadySeconds"] = seconds;
  if (const Json* picker = api::Find(spec, "downscalePodPicker"); picker != nullptr && sync.hands_picker)
    set["spec"]["downscalePodPicker"] = *picker;
  return set;
}

Json NewSetPatch(const SyncState& sync) {
  const ReplicaSetFacts& set = *sync.new_set();
  std::shared_ptr<const Json> document = set.object->Document();
  const Json& annotations = ObjectAt(*document, "metadata", "annotations");
  Json changes = NewSetChanges(sync.annotations(), annotations, sync.NextRevision());
  const std::int64_t min_ready_seconds = IntAt(sync.spec(), 0, "minReadySeconds");
  Json patch;
  if (!changes.empty()) patch["metadata"]["annotations"] = std::move(changes);
  if (min_ready_seconds != set.min_ready_seconds) patch["spec"]["minReadySeconds"] = min_ready_seconds;
  return patch;
}

Json PickerPatch(const SyncState& sync, const ReplicaSetFacts& set) {
  const Json* picker = api::Find(sync.spec(), "downscalePodPicker");
  const Json wanted = picker == nullptr ? Json() : *picker;
  if (!sync.hands_picker || set.object->header().deleting || set.picker == wanted) return nullptr;
  return {{"metadata", {{"uid", set.uid()}}},
          {"spec", {{"downscalePodPicker", MergeDifference(set.picker, wanted)}}}};
}

}  // namespace terrarium::controllers::deployment
