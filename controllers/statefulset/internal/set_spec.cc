#include "controllers/statefulset/internal/set_spec.h"

#include <algorithm>
#include <charconv>

#include "api/json_access.h"

namespace terrarium::controllers::statefulset {

using api::Json;

int MaxUnavailable(const Json* value, int replicas) {
  if (value == nullptr) return 1;
  std::int64_t pods = 0;
  if (const auto* text = value->get_ptr<const std::string*>()) {
    std::int64_t percent = 0;
    std::from_chars(text->data(), text->data() + text->size(), percent);
    // Validation refuses more than 100%.
    pods = std::clamp<std::int64_t>(percent, 0, 100) * replicas / 100;
  } else if (value->is_number_integer()) {
    pods = value->get<std::int64_t>();
  }
  return static_cast<int>(std::max<std::int64_t>(pods, 1));
}

SetSpec ReadSetSpec(const Json& set, const api::FeatureGates& gates) {
  const Json& spec = api::ObjectAt(set, "spec");
  SetSpec out;
  out.replicas = static_cast<int>(api::IntAt(spec, 1, "replicas"));
  out.start = static_cast<int>(api::IntAt(spec, 0, "ordinals", "start"));
  out.parallel = api::StringAt(spec, "podManagementPolicy") == "Parallel";
  out.min_ready = std::chrono::seconds(api::IntAt(spec, 0, "minReadySeconds"));
  out.on_delete = api::StringAt(spec, "updateStrategy", "type") == "OnDelete";
  const Json* rolling = api::Find(spec, "updateStrategy", "rollingUpdate");
  if (rolling != nullptr) out.partition = static_cast<int>(api::IntAt(*rolling, 0, "partition"));
  if (gates.Enabled(api::gate::kMaxUnavailableStatefulSet)) {
    const Json* most = rolling == nullptr ? nullptr : api::Find(*rolling, "maxUnavailable");
    out.max_unavailable = MaxUnavailable(most, out.replicas);
  }
  const Json& retention = api::ObjectAt(spec, "persistentVolumeClaimRetentionPolicy");
  out.retention = {.deletes_when_deleted = api::StringAt(retention, "whenDeleted") == "Delete",
                   .deletes_when_scaled = api::StringAt(retention, "whenScaled") == "Delete"};
  out.history_limit = static_cast<int>(api::IntAt(spec, 10, "revisionHistoryLimit"));
  return out;
}

}  // namespace terrarium::controllers::statefulset
