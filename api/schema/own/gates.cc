// Which feature gate owns which field. A write drops the field while its gate is off, unless the stored
// object already has it.

#include "api/schema/own/declarations.h"

namespace terrarium::api::own {
namespace {

constexpr Gate kGates[] = {
    {"apps.v1.DeploymentSpec", "downscalePodPicker", "DownscalePodPicker"},
    {"apps.v1.DeploymentSpec", "podReplacementPolicy", "DeploymentPodReplacementPolicy"},
    {"apps.v1.DeploymentStatus", "terminatingReplicas", "DeploymentReplicaSetTerminatingReplicas"},
    {"apps.v1.ReplicaSetSpec", "downscalePodPicker", "DownscalePodPicker"},
    {"apps.v1.ReplicaSetStatus", "terminatingReplicas", "DeploymentReplicaSetTerminatingReplicas"},
    {"apps.v1.RollingUpdateStatefulSetStrategy", "maxUnavailable", "MaxUnavailableStatefulSet"},
    {"autoscaling.v2.HPAScalingRules", "tolerance", "HPAConfigurableTolerance"},
    {"batch.v1.JobSpec", "backoffLimitPerIndex", "JobBackoffLimitPerIndex"},
    {"batch.v1.JobSpec", "managedBy", "JobManagedBy"},
    {"batch.v1.JobSpec", "maxFailedIndexes", "JobBackoffLimitPerIndex"},
    {"batch.v1.JobSpec", "podFailurePolicy", "JobPodFailurePolicy"},
    {"batch.v1.JobSpec", "podReplacementPolicy", "JobPodReplacementPolicy"},
    {"batch.v1.JobSpec", "successPolicy", "JobSuccessPolicy"},
};

}  // namespace

std::span<const Gate> Gates() { return kGates; }

}  // namespace terrarium::api::own
