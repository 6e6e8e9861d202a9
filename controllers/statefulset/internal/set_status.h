#pragma once

// The status of a StatefulSet. Pure.

#include <cstdint>
#include <string>
#include <vector>

#include "api/json.h"
#include "controllers/statefulset/internal/pod_facts.h"
#include "controllers/statefulset/internal/set_spec.h"

namespace terrarium::controllers::statefulset {

struct SetStatus {
  std::int64_t observed_generation = 0;
  std::int64_t collision_count = 0;
  std::string current_revision;
  std::string update_revision;
  int replicas = 0;
  int ready = 0;
  int available = 0;
  int current = 0;  // of the current revision, not being deleted
  int updated = 0;  // of the update revision, not being deleted
};

// Counts the pods into a status whose revisions are set.
void CountPods(SetStatus& status, const SetSpec& spec, const std::vector<StatefulPodPtr>& pods,
               api::Time now);
// When all pods are ready and of the update revision, that becomes the current one.
void CompleteUpdate(SetStatus& status, const SetSpec& spec);

api::Json ToJson(const SetStatus& status);
// Whether Kubernetes would write `status` over the stored one: a difference in collisionCount alone is not
// written.
bool MustWrite(const api::Json& stored, const SetStatus& status);

}  // namespace terrarium::controllers::statefulset
