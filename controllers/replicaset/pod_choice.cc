// Chooses the pods of an owner to delete.

#include <algorithm>
#include <utility>
#include <variant>

#include <prometheus/histogram.h>

#include "api/base/feature_gates.h"
#include "api/json_access.h"
#include "controllers/replicaset/internal/picker_call.h"
#include "controllers/replicaset/internal/replicaset_controller.h"

namespace terrarium::controllers::replicaset {

using api::Json;

std::optional<ReplicaSetController::Choice> ReplicaSetController::ChooseVictims(const Burst& burst) {
  const ObjectName& name = burst.owner->name();
  std::vector<RankedPod> pods;
  pods.reserve(static_cast<std::size_t>(burst.live));
  const std::vector<int> on_node = index_.LivePodsByNode(name);
  for (const OwnedPod* pod : index_.Find(name)->pods)
    if (pod->share.live)
      pods.push_back({pod->pod.get(), &pod->facts, on_node[static_cast<std::size_t>(pod->node)]});
  RankingRules rules{.now = context_.env.clock.Now(),
                     .deletion_cost = context_.env.gates.Enabled(api::gate::kPodDeletionCost),
                     .logarithmic = context_.env.gates.Enabled(api::gate::kLogarithmicScaleDown)};
  Choice choice;
  std::shared_ptr<const Json> document = burst.owner->Document();
  if (const Json* picker = PickerOf(burst, *document)) {
    if (!RankByPicker(burst, *picker, pods, rules, choice.picker)) return std::nullopt;
  } else {
    picks_.Drop(name);
  }
  // Deleting all of them needs no choice.
  if (burst.count < burst.live) {
    ChooseForDeletion(pods, static_cast<std::size_t>(burst.count), rules);
    ObserveAges(pods, burst.count);
  }
  for (const RankedPod& pod : pods) {
    if (static_cast<int>(choice.victims.size()) == burst.count) break;
    const api::ObjectHeader& header = pod.pod->header();
    choice.victims.push_back({header.name, header.uid, pod.rank, pod.facts->deletion_cost, pod.facts->ready});
  }
  return choice;
}

const Json* ReplicaSetController::PickerOf(const Burst& burst, const Json& owner) const {
  if (!kind_.has_picker || burst.count >= burst.live) return nullptr;
  if (!context_.env.gates.Enabled(api::gate::kDownscalePodPicker)) return nullptr;
  return api::Find(owner, "spec", "downscalePodPicker");
}

// Without a call, or when the call failed, all pods rank 0: the ranks by node are not used either. A response
// that names no pod leaves the ranks by node.
bool ReplicaSetController::RankByPicker(const Burst& burst, const Json& picker, std::vector<RankedPod>& pods,
                                        RankingRules& rules, Json& record) {
  const ObjectName& name = burst.owner->name();
  const std::string url = UrlOf(picker);
  PickRequest request = RequestFor(pods, burst.count);
  auto rank_alike = [&] {
    rules.picked = true;
    for (RankedPod& pod : pods) pod.rank = 0;
  };
  if (request.number == 0) {
    picks_.Drop(name);
    rank_alike();
    record = {{"url", url}, {"calls", 0}};
    return true;
  }
  std::optional<PodPicks::Verdict> verdict = picks_.Ask(
      name,
      {.owner_uid = burst.owner->header().uid, .wanted = burst.wanted, .picker = picker, .request = request});
  if (!verdict) return false;
  record = {{"url", url}, {"calls", verdict->calls}, {"request", request.ToJson()}};
  if (const auto* fault = std::get_if<PickFault>(&verdict->result)) {
    rank_alike();
    record["fault"] = fault->message;
    std::string message = "Error asking downscalePodPicker " + url + ": " + fault->message;
    message += " (calls: " + std::to_string(verdict->calls) + "); all pods rank alike";
    context_.recorder.Record({std::string(kind_.event_source)},
                             ReferenceTo(*burst.owner, kind_.api_version, kind_.kind), kWarning,
                             "FailedDownscalePodPicker", std::move(message));
    return true;
  }
  const PickAnswer& answer = std::get<PickAnswer>(verdict->result);
  record["answer"] = answer.ToJson();
  if (answer.IsEmpty()) return true;
  rules.picked = true;
  Json& ranks = record["ranks"] = Json::object();
  for (RankedPod& pod : pods) {
    const std::string& pod_name = pod.pod->header().name;
    ranks[pod_name] = pod.rank = answer.RankOf(pod_name);
  }
  return true;
}

// Rounds ratios down to integers, as Kubernetes does.
void ReplicaSetController::ObserveAges(const std::vector<RankedPod>& pods, int chosen) const {
  auto age = [now = context_.env.clock.Now()](const RankedPod& pod) -> std::int64_t {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - pod.facts->created).count();
  };
  std::optional<std::int64_t> youngest;
  for (const RankedPod& pod : pods)
    if (pod.facts->ready && pod.facts->created != kNoTime)
      youngest = std::min(youngest.value_or(age(pod)), age(pod));
  if (!youngest) return;
  for (int i = 0; i < chosen; ++i)
    if (pods[i].facts->ready && pods[i].facts->created != kNoTime)
      age_ratio_.Observe(static_cast<double>(age(pods[i]) / std::max<std::int64_t>(*youngest, 1)));
}

}  // namespace terrarium::controllers::replicaset
