#include "controllers/deployment/internal/pod_counts.h"

#include <utility>

#include "api/core_v1/pod.h"

namespace terrarium::controllers::deployment {

// nullopt for a pod that has ended or that no ReplicaSet controls.
std::optional<PodCounts::Pod> PodCounts::Read(const api::Object& pod) {
  if (api::IsPodTerminal(pod)) return std::nullopt;
  const api::OwnerReference* controller = pod.controller();
  if (controller == nullptr || controller->kind != "ReplicaSet") return std::nullopt;
  return Pod{{controller->uid, {pod.name().ns, controller->name}}, pod.header().deleting};
}

std::optional<PodCounts::Loss> PodCounts::Put(const api::Object& pod) {
  const api::ObjectName& name = pod.name();
  std::optional<Pod> now = Read(pod);
  if (now) {
    auto known = pods_.find(name);
    const bool same = known != pods_.end() && known->second.owner.uid == now->owner.uid &&
                      known->second.terminating == now->terminating;
    if (same) return std::nullopt;
    Counts& counts = counts_[now->owner.uid];
    ++(now->terminating ? counts.terminating : counts.live);
  }
  std::optional<Loss> loss = Remove(name);
  if (now) pods_.emplace(name, std::move(*now));
  return loss;
}

std::optional<PodCounts::Loss> PodCounts::Remove(const api::ObjectName& pod) {
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
  return Loss{.owner = std::move(before.owner), .last = last || last_live};
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
