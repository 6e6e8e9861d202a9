#include "controllers/statefulset/internal/set_status.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::statefulset {

using api::Json;

void CountPods(SetStatus& status, const SetSpec& spec, const std::vector<StatefulPodPtr>& pods,
               api::Time now) {
  status.replicas = static_cast<int>(pods.size());
  status.ready = status.available = status.current = status.updated = 0;
  for (const StatefulPodPtr& each : pods) {
    const PodFacts& pod = each->facts;
    if (pod.RunningAndReady()) {
      ++status.ready;
      if (pod.Available(spec.min_ready, now)) ++status.available;
    }
    if (pod.deleting) continue;
    if (pod.revision == status.current_revision) ++status.current;
    if (pod.revision == status.update_revision) ++status.updated;
  }
}

void CompleteUpdate(SetStatus& status, const SetSpec& spec) {
  const bool complete = !spec.on_delete && status.updated == spec.replicas && status.ready == spec.replicas &&
                        status.replicas == spec.replicas;
  if (!complete) return;
  status.current = status.updated;
  status.current_revision = status.update_revision;
}

Json ToJson(const SetStatus& status) {
  // Kubernetes writes these even when they are 0.
  Json out = {{"replicas", status.replicas},
              {"availableReplicas", status.available},
              {"collisionCount", status.collision_count}};
  auto set_unless_zero = [&](const char* field, std::int64_t value) {
    if (value != 0) out[field] = value;
  };
  set_unless_zero("observedGeneration", status.observed_generation);
  set_unless_zero("readyReplicas", status.ready);
  set_unless_zero("currentReplicas", status.current);
  set_unless_zero("updatedReplicas", status.updated);
  if (!status.current_revision.empty()) out["currentRevision"] = status.current_revision;
  if (!status.update_revision.empty()) out["updateRevision"] = status.update_revision;
  return out;
}

bool MustWrite(const Json& stored, const SetStatus& status) {
  const std::pair<const char*, int> counts[] = {{"replicas", status.replicas},
                                                {"readyReplicas", status.ready},
                                                {"availableReplicas", status.available},
                                                {"currentReplicas", status.current},
                                                {"updatedReplicas", status.updated}};
  for (const auto& [field, count] : counts)
    if (api::IntAt(stored, 0, field) != count) return true;
  return status.observed_generation > api::IntAt(stored, 0, "observedGeneration") ||
         api::StringAt(stored, "currentRevision") != status.current_revision ||
         api::StringAt(stored, "updateRevision") != status.update_revision;
}

}  // namespace terrarium::controllers::statefulset
