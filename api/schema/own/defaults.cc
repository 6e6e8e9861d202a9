// Values that Kubernetes 1.36 gives to absent fields without looking at any other field. Those that do look
// (the image pull policy, a Job's completions, requests from limits, rollingUpdate from the strategy's type)
// are code in the strategy of the kind. Facts from the SetDefaults_ functions of pkg/apis/*/v1 and the
// +default markers of k8s.io/api.

#include "api/schema/own/declarations.h"

namespace terrarium::api::own {
namespace {

constexpr Default kDefaults[] = {
    {"apps.v1.DaemonSetSpec", "revisionHistoryLimit", "10"},
    {"apps.v1.DaemonSetUpdateStrategy", "type", R"("RollingUpdate")"},
    {"apps.v1.DeploymentSpec", "progressDeadlineSeconds", "600"},
    {"apps.v1.DeploymentSpec", "replicas", "1"},
    {"apps.v1.DeploymentSpec", "revisionHistoryLimit", "10"},
    {"apps.v1.DeploymentStrategy", "type", R"("RollingUpdate")"},
    {"apps.v1.DownscalePodPicker", "maxRetries", "3"},
    {"apps.v1.DownscalePodPicker", "timeoutSeconds", "1"},
    {"apps.v1.HTTPDownscalePodPicker", "scheme", R"("HTTP")"},
    {"apps.v1.ReplicaSetSpec", "replicas", "1"},
    {"apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenDeleted", R"("Retain")"},
    {"apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenScaled", R"("Retain")"},
    {"apps.v1.StatefulSetSpec", "persistentVolumeClaimRetentionPolicy", "{}"},
    {"apps.v1.StatefulSetSpec", "podManagementPolicy", R"("OrderedReady")"},
    {"apps.v1.StatefulSetSpec", "replicas", "1"},
    {"apps.v1.StatefulSetSpec", "revisionHistoryLimit", "10"},

    {"authentication.v1.TokenRequestSpec", "expirationSeconds", "3600"},

    {"batch.v1.CronJobSpec", "concurrencyPolicy", R"("Allow")"},
    {"batch.v1.CronJobSpec", "failedJobsHistoryLimit", "1"},
    {"batch.v1.CronJobSpec", "successfulJobsHistoryLimit", "3"},
    {"batch.v1.CronJobSpec", "suspend", "false"},
    {"batch.v1.Job", "spec.completionMode", R"("NonIndexed")"},
    {"batch.v1.Job", "spec.manualSelector", "false"},
    {"batch.v1.Job", "spec.suspend", "false"},
    {"batch.v1.PodFailurePolicyOnPodConditionsPattern", "status", R"("True")"},

    {"core.v1.AzureDiskVolumeSource", "cachingMode", R"("ReadWrite")"},
    {"core.v1.AzureDiskVolumeSource", "fsType", R"("ext4")"},
    {"core.v1.AzureDiskVolumeSource", "kind", R"("Shared")"},
    {"core.v1.AzureDiskVolumeSource", "readOnly", "false"},
    {"core.v1.ConfigMapVolumeSource", "defaultMode", "420"},
    {"core.v1.Container", "terminationMessagePath", R"("/dev/termination-log")"},
    {"core.v1.Container", "terminationMessagePolicy", R"("File")"},
    {"core.v1.ContainerPort", "protocol", R"("TCP")"},
    {"core.v1.DownwardAPIVolumeSource", "defaultMode", "420"},
    {"core.v1.EphemeralContainerCommon", "terminationMessagePath", R"("/dev/termination-log")"},
    {"core.v1.EphemeralContainerCommon", "terminationMessagePolicy", R"("File")"},
    {"core.v1.FileKeySelector", "optional", "false"},
    {"core.v1.GRPCAction", "service", R"("")"},
    {"core.v1.HTTPGetAction", "path", R"("/")"},
    {"core.v1.HTTPGetAction", "scheme", R"("HTTP")"},
    {"core.v1.HostPathVolumeSource", "type", R"("")"},
    {"core.v1.ISCSIVolumeSource", "iscsiInterface", R"("default")"},
    {"core.v1.NamespaceStatus", "phase", R"("Active")"},
    {"core.v1.ObjectFieldSelector", "apiVersion", R"("v1")"},
    {"core.v1.PersistentVolumeClaimSpec", "volumeMode", R"("Filesystem")"},
    {"core.v1.PersistentVolumeClaimStatus", "phase", R"("Pending")"},
    {"core.v1.Pod", "spec.enableServiceLinks", "true"},
    {"core.v1.PodSpec", "dnsPolicy", R"("ClusterFirst")"},
    {"core.v1.PodSpec", "restartPolicy", R"("Always")"},
    {"core.v1.PodSpec", "schedulerName", R"("default-scheduler")"},
    {"core.v1.PodSpec", "securityContext", "{}"},
    {"core.v1.PodSpec", "terminationGracePeriodSeconds", "30"},
    {"core.v1.Probe", "failureThreshold", "3"},
    {"core.v1.Probe", "periodSeconds", "10"},
    {"core.v1.Probe", "successThreshold", "1"},
    {"core.v1.Probe", "timeoutSeconds", "1"},
    {"core.v1.ProjectedVolumeSource", "defaultMode", "420"},
    {"core.v1.RBDVolumeSource", "keyring", R"("/etc/ceph/keyring")"},
    {"core.v1.RBDVolumeSource", "pool", R"("rbd")"},
    {"core.v1.RBDVolumeSource", "user", R"("admin")"},
    {"core.v1.ReplicationControllerSpec", "replicas", "1"},
    {"core.v1.ScaleIOVolumeSource", "fsType", R"("xfs")"},
    {"core.v1.ScaleIOVolumeSource", "storageMode", R"("ThinProvisioned")"},
    {"core.v1.Secret", "type", R"("Opaque")"},
    {"core.v1.SecretVolumeSource", "defaultMode", "420"},
    {"core.v1.ServiceAccountTokenProjection", "expirationSeconds", "3600"},
    {"core.v1.ServicePort", "protocol", R"("TCP")"},
    {"core.v1.ServiceSpec", "sessionAffinity", R"("None")"},
    {"core.v1.ServiceSpec", "type", R"("ClusterIP")"},
};

}  // namespace

std::span<const Default> Defaults() { return kDefaults; }

}  // namespace terrarium::api::own
