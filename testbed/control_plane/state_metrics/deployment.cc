#include <algorithm>
#include <array>
#include <charconv>

#include "api/json_access.h"
#include "testbed/control_plane/state_metrics/internal/family.h"

namespace terrarium::testbed::state_metrics {
namespace {

using api::Json;

// Reasons that become a label; any other would let labels grow without bound.
constexpr std::array<std::string_view, 11> kReasons = {
    "",
    "DeploymentPaused",
    "DeploymentResumed",
    "FoundNewReplicaSet",
    "MinimumReplicasAvailable",
    "MinimumReplicasUnavailable",
    "NewReplicaSetAvailable",
    "NewReplicaSetCreated",
    "ProgressDeadlineExceeded",
    "ReplicaSetCreateError",
    "ReplicaSetUpdated",
};

void Conditions(const Family&, const Json& deployment, Samples& samples) {
  for (const Json& condition : api::ListAt(deployment, "status", "conditions")) {
    std::string_view reason = api::StringAt(condition, "reason");
    if (std::find(kReasons.begin(), kReasons.end(), reason) == kReasons.end()) reason = "unknown";
    EachStatus(api::StringAt(condition, "status"), [&](std::string_view status, int value) {
      samples.Add(value,
                  {{"reason", reason}, {"condition", api::StringAt(condition, "type")}, {"status", status}});
    });
  }
}

// Unlike the owners of other kinds, these do not state which owner is the controller.
void DeploymentOwners(const Family&, const Json& deployment, Samples& samples) {
  const Json& owners = api::ListAt(deployment, "metadata", "ownerReferences");
  if (owners.empty()) samples.Add(1, {{"owner_kind", ""}, {"owner_name", ""}});
  for (const Json& owner : owners) {
    samples.Add(1,
                {{"owner_kind", api::StringAt(owner, "kind")}, {"owner_name", api::StringAt(owner, "name")}});
  }
}

void Paused(const Family&, const Json& deployment, Samples& samples) {
  samples.Add(api::BoolAt(deployment, "spec", "paused") ? 1 : 0);
}

// A number, or a percentage of the replicas; surge is rounded up and unavailability down.
void RollingUpdateLimit(const Json& deployment, std::string_view field, bool round_up, Samples& samples) {
  const Json* value = api::Find(deployment, "spec", "strategy", "rollingUpdate", field);
  if (value == nullptr) return;
  if (value->is_number_integer()) {
    samples.Add(value->get<std::int64_t>());
    return;
  }
  if (!value->is_string()) return;
  const std::string& text = value->get_ref<const std::string&>();
  std::int64_t percent = 0;
  std::from_chars(text.data(), text.data() + text.size(), percent);
  const std::int64_t replicas = api::IntAt(deployment, 0, "spec", "replicas");
  samples.Add((percent * replicas + (round_up ? 99 : 0)) / 100);
}

void MaxUnavailable(const Family&, const Json& deployment, Samples& samples) {
  RollingUpdateLimit(deployment, "maxUnavailable", false, samples);
}

void MaxSurge(const Family&, const Json& deployment, Samples& samples) {
  RollingUpdateLimit(deployment, "maxSurge", true, samples);
}

constexpr std::string_view kTerminating = "The number of terminating replicas per deployment.";

constexpr Family kFamilies[] = {
    {"kube_deployment_owner", "Information about the Deployment's owner.", DeploymentOwners},
    {"kube_deployment_created", "[STABLE] Unix creation timestamp", TimeIfSet, "metadata",
     "creationTimestamp"},
    {"kube_deployment_status_replicas", "[STABLE] The number of replicas per deployment.", Number, "status",
     "replicas"},
    {"kube_deployment_status_replicas_ready", "[STABLE] The number of ready replicas per deployment.", Number,
     "status", "readyReplicas"},
    {"kube_deployment_status_replicas_available", "[STABLE] The number of available replicas per deployment.",
     Number, "status", "availableReplicas"},
    {"kube_deployment_status_replicas_unavailable",
     "[STABLE] The number of unavailable replicas per deployment.", Number, "status", "unavailableReplicas"},
    {"kube_deployment_status_replicas_updated", "[STABLE] The number of updated replicas per deployment.",
     Number, "status", "updatedReplicas"},
    // KEP-3973 names the first, kube-state-metrics ships the second: people look for either.
    {"kube_deployment_status_replicas_terminating", kTerminating, NumberIfSet, "status",
     "terminatingReplicas"},
    {"kube_deployment_status_terminating_replicas", kTerminating, NumberIfSet, "status",
     "terminatingReplicas"},
    {"kube_deployment_status_observed_generation",
     "[STABLE] The generation observed by the deployment controller.", Number, "status",
     "observedGeneration"},
    {"kube_deployment_status_condition", "[STABLE] The current status conditions of a deployment.",
     Conditions},
    {"kube_deployment_spec_replicas", "[STABLE] Number of desired pods for a deployment.", Number, "spec",
     "replicas"},
    {"kube_deployment_spec_paused",
     "[STABLE] Whether the deployment is paused and will not be processed by the deployment controller.",
     Paused},
    {"kube_deployment_spec_strategy_rollingupdate_max_unavailable",
     "[STABLE] Maximum number of unavailable replicas during a rolling update of a deployment.",
     MaxUnavailable},
    {"kube_deployment_spec_strategy_rollingupdate_max_surge",
     "[STABLE] Maximum number of replicas that can be scheduled above the desired number of replicas during "
     "a rolling "
     "update of a deployment.",
     MaxSurge},
    {"kube_deployment_metadata_generation",
     "[STABLE] Sequence number representing a specific generation of the desired state.", Number, "metadata",
     "generation"},
    {"kube_deployment_deletion_timestamp", "Unix deletion timestamp", TimeIfSet, "metadata",
     "deletionTimestamp"},
};

}  // namespace

std::span<const Family> DeploymentFamilies() { return kFamilies; }

}  // namespace terrarium::testbed::state_metrics
