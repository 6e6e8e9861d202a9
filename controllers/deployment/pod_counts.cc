#include "controllers/deployment/internal/pod_counts.h"

#include <utility>

#include "api/core_v1/pod.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::deployment {

// nullopt for a pod that has ended or that no ReplicaSet controls.
std::optional<PodCounts::Pod> PodCounts::Read(const api::Object& pod) {
  const std::string& phase = api::PodPhase(pod);
  if (phase == "Succeeded" || phase == "Failed") return std::nullopt;
  std::optional<OwnerReference> controller = ControllerOf(*pod.Document());
  if (!controller || controller->kind != "ReplicaSet") return std::nullopt;
  return Pod{{std::move(controller->uid), {pod.header().ns, std::move(controller->name)}}, pod.header().deleting};
}

std::optional<PodCounts::Owner> PodCounts::Put(const api::Object& pod) {
  const api::ObjectName name{pod.header().ns, pod.header().name};
  std::optional<Pod> now = Read(pod);
  if (now) {
    Counts& counts = counts_[now->owner.uid];
    ++(now->terminating ? counts.terminating : counts.live);
  }
  std::optional<Owner> emptied = Remove(name);
  if (now) pods_.emplace(name, std::move(*now));
  return emptied;
}

std::optional<PodCounts::Owner> PodCounts::Remove(const api::ObjectName& pod) {
  auto it = pods_.find(pod);
  if (it == pods_.end()) return std::nullopt;
  Pod before = std::move(it->second);
  pods_.erase(it);
  auto counted = counts_.find(before.owner.uid);
  Counts& counts = counted->second;
  --(before.terminating ? counts.terminating : counts.live);
  const bool last_live = !before.terminating && counts.live == 0;
  const bool last = counts.live == 0 && counts.terminating == 0;
  if (last) counts_.erase(counted);
  if (last || last_live) return std::move(before.owner);
  return std::nullopt;
}

void PodCounts::Clear() {
  pods_.clear();
  counts_.clear();
}

PodCounts::Counts PodCounts::Of(const std::string& replica_set_uid) const {
  auto it = counts_.find(replica_set_uid);
  return it == counts_.end() ? Counts{} : it->second;
}

}  // namespace terrarium::controllers::deployment
