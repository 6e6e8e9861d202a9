#include "apiserver/resources/internal/row.h"
#include "apiserver/strategies.h"

namespace terrarium::apiserver::resources {
namespace {

constexpr Package kCore = {"", "v1", "io.k8s.api.core.v1."};

SubresourceInfo Eviction() {
  return {.name = "eviction", .group = "policy", .version = "v1", .kind = "Eviction", .verbs = {"create"}};
}

}  // namespace

Resources Core() {
  return {
      VirtualRow(kCore, "Binding", "bindings", true),
      Row(kCore, "ConfigMap", "configmaps", ConfigMapStrategy(), {.short_names = {"cm"}}),
      Row(kCore, "Endpoints", "endpoints", EndpointsStrategy(),
          {.short_names = {"ep"}, .etcd_prefix = "services/endpoints"}),
      Row(kCore, "Event", "events", EventStrategy(), {.short_names = {"ev"}}),
      Row(kCore, "LimitRange", "limitranges", LimitRangeStrategy(), {.short_names = {"limits"}}),
      Row(kCore, "Namespace", "namespaces", NamespaceStrategy(),
          {.namespaced = false,
           .short_names = {"ns"},
           .deletes_collections = false,
           .subresources = {Subresource("finalize", "Namespace", {"update"})},
           .status = true}),
      Row(kCore, "Node", "nodes", NodeStrategy(),
          {.namespaced = false, .short_names = {"no"}, .status = true, .etcd_prefix = "minions"}),
      Row(kCore, "PersistentVolumeClaim", "persistentvolumeclaims", PersistentVolumeClaimStrategy(),
          {.short_names = {"pvc"}, .status = true}),
      Row(kCore, "PersistentVolume", "persistentvolumes", PersistentVolumeStrategy(),
          {.namespaced = false, .short_names = {"pv"}, .status = true}),
      Row(kCore, "Pod", "pods", PodStrategy(),
          {.short_names = {"po"},
           .categories = {"all"},
           .subresources = {Connection("attach", "PodAttachOptions"),
                            Subresource("binding", "Binding", {"create"}), Eviction(),
                            Connection("exec", "PodExecOptions"), Subresource("log", "Pod", {"get"}),
                            Connection("portforward", "PodPortForwardOptions")},
           .status = true}),
      Row(kCore, "PodTemplate", "podtemplates", PodTemplateStrategy()),
      Row(kCore, "ReplicationController", "replicationcontrollers", ReplicationControllerStrategy(),
          {.short_names = {"rc"},
           .categories = {"all"},
           .subresources = {Scale()},
           .status = true,
           .etcd_prefix = "controllers"}),
      Row(kCore, "ResourceQuota", "resourcequotas", ResourceQuotaStrategy(),
          {.short_names = {"quota"}, .status = true}),
      Row(kCore, "Secret", "secrets", SecretStrategy()),
      Row(kCore, "ServiceAccount", "serviceaccounts", ServiceAccountStrategy(), {.short_names = {"sa"}}),
      Row(kCore, "Service", "services", ServiceStrategy(),
          {.short_names = {"svc"}, .categories = {"all"}, .status = true, .etcd_prefix = "services/specs"}),
  };
}

}  // namespace terrarium::apiserver::resources
