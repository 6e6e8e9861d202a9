#include "controllers/controller_table.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "api/base/errors.h"
#include "controllers/cronjob/cron_job_controller.h"
#include "controllers/daemonset/daemonset_controller.h"
#include "controllers/deployment/deployment_controller.h"
#include "controllers/disruption/disruption_controller.h"
#include "controllers/endpoints/endpoint_slice_controller.h"
#include "controllers/endpoints/endpoint_slice_mirroring_controller.h"
#include "controllers/endpoints/endpoints_controller.h"
#include "controllers/ephemeral_volume/ephemeral_volume_controller.h"
#include "controllers/garbage_collector/garbage_collector.h"
#include "controllers/horizontal_pod_autoscaler/horizontal_pod_autoscaler_controller.h"
#include "controllers/job/job_controller.h"
#include "controllers/namespace_lifecycle/namespace_controller.h"
#include "controllers/node_lifecycle/node_lifecycle_controller.h"
#include "controllers/persistent_volume/persistent_volume_controller.h"
#include "controllers/persistent_volume/volume_expander.h"
#include "controllers/pod_gc/pod_garbage_collector.h"
#include "controllers/replicaset/replicaset_controller.h"
#include "controllers/resource_quota/resource_quota_controller.h"
#include "controllers/serviceaccount/root_ca_publisher.h"
#include "controllers/serviceaccount/service_account_controller.h"
#include "controllers/serviceaccount/tokens_controller.h"
#include "controllers/statefulset/statefulset_controller.h"
#include "controllers/taint_eviction/taint_eviction_controller.h"
#include "controllers/ttl_after_finished/ttl_after_finished_controller.h"
#include "controllers/volume_driver/volume_driver.h"
#include "controllers/volume_protection/volume_protection_controllers.h"

namespace terrarium::controllers {
namespace {

using Made = std::unique_ptr<Controller>;

// Some controllers work on every resource, most do not.
template <auto make>
Made Entry(const ControllerContext& context, ServedResources& resources) {
  if constexpr (std::is_invocable_v<decltype(make), const ControllerContext&, ServedResources&>)
    return make(context, resources);
  else
    return make(context);
}

Made MakePodGc(const ControllerContext& context) { return MakePodGarbageCollector(context); }

constexpr ControllerEntry kControllers[] = {
    {"bootstrap-signer-controller", "bootstrapsigner", nullptr},
    {"certificatesigningrequest-approving-controller", "csrapproving", nullptr},
    {"certificatesigningrequest-cleaner-controller", "csrcleaner", nullptr},
    {"certificatesigningrequest-signing-controller", "csrsigning", nullptr},
    {"cloud-node-lifecycle-controller", "cloud-node-lifecycle", nullptr},
    {"clusterrole-aggregation-controller", "clusterrole-aggregation", nullptr},
    {"cronjob-controller", "cronjob", Entry<MakeCronJobController>},
    {"daemonset-controller", "daemonset", Entry<MakeDaemonSetController>},
    {"deployment-controller", "deployment", Entry<MakeDeploymentController>},
    {"device-taint-eviction-controller", "", nullptr},
    {"disruption-controller", "disruption", Entry<MakeDisruptionController>},
    {"endpoints-controller", "endpoint", Entry<MakeEndpointsController>},
    {"endpointslice-controller", "endpointslice", Entry<MakeEndpointSliceController>},
    {"endpointslice-mirroring-controller", "endpointslicemirroring",
     Entry<MakeEndpointSliceMirroringController>},
    {"ephemeral-volume-controller", "ephemeral-volume", Entry<MakeEphemeralVolumeController>},
    {"garbage-collector-controller", "garbagecollector", Entry<MakeGarbageCollector>},
    {"horizontal-pod-autoscaler-controller", "horizontalpodautoscaling",
     Entry<MakeHorizontalPodAutoscalerController>},
    {"job-controller", "job", Entry<MakeJobController>},
    {"kube-apiserver-serving-clustertrustbundle-publisher-controller", "", nullptr},
    {"legacy-serviceaccount-token-cleaner-controller", "legacy-service-account-token-cleaner", nullptr},
    {"namespace-controller", "namespace", Entry<MakeNamespaceController>},
    {"node-ipam-controller", "nodeipam", nullptr},
    {"node-lifecycle-controller", "nodelifecycle", Entry<MakeNodeLifecycleController>},
    {"node-route-controller", "route", nullptr},
    {"persistentvolume-attach-detach-controller", "attachdetach", nullptr},
    {"persistentvolume-binder-controller", "persistentvolume-binder", Entry<MakePersistentVolumeController>},
    {"persistentvolume-expander-controller", "persistentvolume-expander", Entry<MakeVolumeExpander>},
    {"persistentvolume-protection-controller", "pv-protection", Entry<MakeVolumeProtectionController>},
    {"persistentvolumeclaim-protection-controller", "pvc-protection", Entry<MakeClaimProtectionController>},
    {"pod-garbage-collector-controller", "podgc", Entry<MakePodGc>},
    {"podcertificaterequest-cleaner-controller", "", nullptr},
    {"podgroup-protection-controller", "", nullptr},
    {"replicaset-controller", "replicaset", Entry<MakeReplicaSetController>},
    {"replicationcontroller-controller", "replicationcontroller", Entry<MakeReplicationController>},
    {"resourceclaim-controller", "resource-claim-controller", nullptr},
    {"resourcepoolstatusrequest-controller", "", nullptr},
    {"resourcequota-controller", "resourcequota", Entry<MakeResourceQuotaController>},
    {"root-ca-certificate-publisher-controller", "root-ca-cert-publisher", Entry<MakeRootCaPublisher>},
    {"selinux-warning-controller", "", nullptr},
    {"service-cidr-controller", "", nullptr},
    {"service-lb-controller", "service", nullptr},
    {"serviceaccount-controller", "serviceaccount", Entry<MakeServiceAccountController>},
    {"serviceaccount-token-controller", "serviceaccount-token", Entry<MakeServiceAccountTokenController>},
    {"statefulset-controller", "statefulset", Entry<MakeStatefulSetController>},
    {"storage-version-migrator-controller", "svm", nullptr},
    {"storageversion-garbage-collector-controller", "storage-version-gc", nullptr},
    {"taint-eviction-controller", "", Entry<MakeTaintEvictionController>},
    {"terrarium-volume-driver", "", Entry<MakeVolumeDriver>},
    {"token-cleaner-controller", "tokencleaner", nullptr},
    {"ttl-after-finished-controller", "ttl-after-finished", Entry<MakeTtlAfterFinishedController>},
    {"ttl-controller", "ttl", nullptr},
    {"validatingadmissionpolicy-status-controller", "", nullptr},
    {"volumeattributesclass-protection-controller", "", Entry<MakeAttributesClassProtectionController>},
};

const ControllerEntry* FindController(std::string_view name) {
  for (const ControllerEntry& entry : kControllers)
    if (entry.name == name || (!entry.alias.empty() && entry.alias == name)) return &entry;
  return nullptr;
}

std::vector<std::string_view> SplitList(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    std::size_t comma = std::min(list.find(','), list.size());
    out.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return out;
}

}  // namespace

std::span<const ControllerEntry> AllControllers() { return kControllers; }

api::Result<std::vector<const ControllerEntry*>> SelectControllers(const std::string& list) {
  bool all = false;
  std::vector<const ControllerEntry*> named, refused;
  for (std::string_view item : SplitList(list)) {
    // Users write "-*" for "none"; without "*" it has nothing to remove.
    if (item.empty() || item == "-*") continue;
    if (item == "*") {
      all = true;
      continue;
    }
    bool minus = item.front() == '-';
    const ControllerEntry* entry = FindController(minus ? item.substr(1) : item);
    if (entry == nullptr)
      return api::BadRequest(api::Quote(minus ? item.substr(1) : item) +
                             " is not in the list of known controllers");
    (minus ? refused : named).push_back(entry);
  }
  std::vector<const ControllerEntry*> out;
  for (const ControllerEntry& entry : kControllers) {
    if (entry.make == nullptr) continue;
    bool wanted = std::find(named.begin(), named.end(), &entry) != named.end();
    bool unwanted = std::find(refused.begin(), refused.end(), &entry) != refused.end();
    if (wanted || (all && !unwanted)) out.push_back(&entry);
  }
  return out;
}

}  // namespace terrarium::controllers
