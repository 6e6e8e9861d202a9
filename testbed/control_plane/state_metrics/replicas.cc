// ReplicaSets, ReplicationControllers and StatefulSets: kinds that keep a number of pods.

#include "api/json_access.h"
#include "testbed/control_plane/state_metrics/internal/family.h"

namespace terrarium::testbed::state_metrics {
namespace {

using api::Json;

constexpr std::string_view kCreated = "[STABLE] Unix creation timestamp";
constexpr std::string_view kGeneration =
    "[STABLE] Sequence number representing a specific generation of the desired state.";

constexpr Family kReplicaSet[] = {
    {"kube_replicaset_created", kCreated, TimeIfSet, "metadata", "creationTimestamp"},
    {"kube_replicaset_status_replicas", "[STABLE] The number of replicas per ReplicaSet.", Number, "status",
     "replicas"},
    {"kube_replicaset_status_fully_labeled_replicas",
     "[STABLE] The number of fully labeled replicas per ReplicaSet.", Number, "status",
     "fullyLabeledReplicas"},
    {"kube_replicaset_status_ready_replicas", "[STABLE] The number of ready replicas per ReplicaSet.", Number,
     "status", "readyReplicas"},
    {"kube_replicaset_status_terminating_replicas", "The number of terminating replicas per ReplicaSet.",
     NumberIfSet, "status", "terminatingReplicas"},
    {"kube_replicaset_status_observed_generation",
     "[STABLE] The generation observed by the ReplicaSet controller.", Number, "status",
     "observedGeneration"},
    {"kube_replicaset_spec_replicas", "[STABLE] Number of desired pods for a ReplicaSet.", NumberIfSet,
     "spec", "replicas"},
    {"kube_replicaset_metadata_generation", kGeneration, Number, "metadata", "generation"},
    {"kube_replicaset_owner", "[STABLE] Information about the ReplicaSet's owner.", Owners},
};

constexpr Family kReplicationController[] = {
    {"kube_replicationcontroller_created", kCreated, TimeIfSet, "metadata", "creationTimestamp"},
    {"kube_replicationcontroller_status_replicas",
     "[STABLE] The number of replicas per ReplicationController.", Number, "status", "replicas"},
    {"kube_replicationcontroller_status_fully_labeled_replicas",
     "[STABLE] The number of fully labeled replicas per ReplicationController.", Number, "status",
     "fullyLabeledReplicas"},
    {"kube_replicationcontroller_status_ready_replicas",
     "[STABLE] The number of ready replicas per ReplicationController.", Number, "status", "readyReplicas"},
    {"kube_replicationcontroller_status_available_replicas",
     "[STABLE] The number of available replicas per ReplicationController.", Number, "status",
     "availableReplicas"},
    {"kube_replicationcontroller_status_observed_generation",
     "[STABLE] The generation observed by the ReplicationController controller.", Number, "status",
     "observedGeneration"},
    {"kube_replicationcontroller_spec_replicas",
     "[STABLE] Number of desired pods for a ReplicationController.", NumberIfSet, "spec", "replicas"},
    {"kube_replicationcontroller_metadata_generation", kGeneration, Number, "metadata", "generation"},
    {"kube_replicationcontroller_owner", "Information about the ReplicationController's owner.", Owners},
};

void OrdinalsStart(const Family&, const Json& set, Samples& samples) {
  if (const Json* ordinals = api::Find(set, "spec", "ordinals"))
    samples.Add(api::IntAt(*ordinals, 0, "start"));
}

void RetentionPolicy(const Family&, const Json& set, Samples& samples) {
  const Json& policy = api::ObjectAt(set, "spec", "persistentVolumeClaimRetentionPolicy");
  std::string_view when_deleted = api::StringAt(policy, "whenDeleted");
  std::string_view when_scaled = api::StringAt(policy, "whenScaled");
  if (when_deleted.empty() && when_scaled.empty()) return;
  samples.Add(1, {{"when_deleted", when_deleted}, {"when_scaled", when_scaled}});
}

void Revision(const Family& family, const Json& set, Samples& samples) {
  samples.Add(1, {{"revision", api::StringAt(set, family.section, family.field)}});
}

constexpr Family kStatefulSet[] = {
    {"kube_statefulset_created", kCreated, TimeIfSet, "metadata", "creationTimestamp"},
    {"kube_statefulset_status_replicas", "[STABLE] The number of replicas per StatefulSet.", Number, "status",
     "replicas"},
    {"kube_statefulset_status_replicas_available",
     "[STABLE] The number of available replicas per StatefulSet.", Number, "status", "availableReplicas"},
    {"kube_statefulset_status_replicas_current", "[STABLE] The number of current replicas per StatefulSet.",
     Number, "status", "currentReplicas"},
    {"kube_statefulset_status_replicas_ready", "[STABLE] The number of ready replicas per StatefulSet.",
     Number, "status", "readyReplicas"},
    {"kube_statefulset_status_replicas_updated", "[STABLE] The number of updated replicas per StatefulSet.",
     Number, "status", "updatedReplicas"},
    {"kube_statefulset_status_observed_generation",
     "[STABLE] The generation observed by the StatefulSet controller.", Number, "status",
     "observedGeneration"},
    {"kube_statefulset_replicas", "[STABLE] Number of desired pods for a StatefulSet.", NumberIfSet, "spec",
     "replicas"},
    {"kube_statefulset_ordinals_start", "[STABLE] Start ordinal of the StatefulSet.", OrdinalsStart},
    {"kube_statefulset_metadata_generation",
     "[STABLE] Sequence number representing a specific generation of the desired state for the StatefulSet.",
     Number, "metadata", "generation"},
    {"kube_statefulset_persistentvolumeclaim_retention_policy",
     "[STABLE] Count of retention policy for StatefulSet template PVCs", RetentionPolicy},
    {"kube_statefulset_status_current_revision",
     "[STABLE] Indicates the version of the StatefulSet used to generate Pods in the sequence "
     "[0,currentReplicas).",
     Revision, "status", "currentRevision"},
    {"kube_statefulset_status_update_revision",
     "[STABLE] Indicates the version of the StatefulSet used to generate Pods in the sequence "
     "[replicas-updatedReplicas,replicas)",
     Revision, "status", "updateRevision"},
    {"kube_statefulset_deletion_timestamp", "[STABLE] Unix deletion timestamp", TimeIfSet, "metadata",
     "deletionTimestamp"},
};

}  // namespace

std::span<const Family> ReplicaSetFamilies() { return kReplicaSet; }
std::span<const Family> ReplicationControllerFamilies() { return kReplicationController; }
std::span<const Family> StatefulSetFamilies() { return kStatefulSet; }

}  // namespace terrarium::testbed::state_metrics
