#include "apiserver/internal/built_in_resources.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/strategies.h"
#include "apiserver/strategy/event_conversion.h"

namespace terrarium::apiserver {
namespace {

using Names = std::vector<std::string>;

Names EveryVerb() {
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

// Built-in strategies live as long as the program, and nothing owns them.
std::shared_ptr<const Strategy> Static(const Strategy& strategy) {
  return {std::shared_ptr<const Strategy>(), &strategy};
}

SubresourceInfo Status(const char* kind) {
  return {.name = "status", .group = "", .version = "", .kind = kind, .verbs = {"get", "patch", "update"}};
}

SubresourceInfo Scale() {
  return {.name = "scale",
          .group = "autoscaling",
          .version = "v1",
          .kind = "Scale",
          .verbs = {"get", "patch", "update"}};
}

SubresourceInfo Connection(const char* name, const char* kind) {
  return {
      .name = name, .group = "", .version = "", .kind = kind, .verbs = {"create", "get"}, .connects = true};
}

// A kind that is answered and never stored.
ResourceInfo Virtual(const char* group, const char* kind, const char* plural, const char* singular,
                     bool namespaced, const char* message) {
  return {.group = group,
          .version = "v1",
          .kind = kind,
          .plural = plural,
          .singular = singular,
          .namespaced = namespaced,
          .short_names = {},
          .categories = {},
          .verbs = {"create"},
          .subresources = {},
          .message = message,
          .storage = "",
          .strategy = nullptr};
}

std::vector<ResourceInfo> CoreConfig() {
  return {
      Virtual("", "Binding", "bindings", "binding", true, "io.k8s.api.core.v1.Binding"),
      {.group = "",
       .version = "v1",
       .kind = "ConfigMap",
       .plural = "configmaps",
       .singular = "configmap",
       .namespaced = true,
       .short_names = {"cm"},
       .categories = {},
       .verbs = EveryVerb(),
       .subresources = {},
       .message = "io.k8s.api.core.v1.ConfigMap",
       .storage = "configmaps",
       .strategy = Static(ConfigMapStrategy())},
      {.group = "",
       .version = "v1",
       .kind = "Event",
       .plural = "events",
       .singular = "event",
       .namespaced = true,
       .short_names = {"ev"},
       .categories = {},
       .verbs = EveryVerb(),
       .subresources = {},
       .message = "io.k8s.api.core.v1.Event",
       .storage = "events",
       .strategy = Static(EventStrategy())},
      {.group = "",
       .version = "v1",
       .kind = "Namespace",
       .plural = "namespaces",
       .singular = "namespace",
       .namespaced = false,
       .short_names = {"ns"},
       .categories = {},
       .verbs = {"create", "delete", "get", "list", "patch", "update", "watch"},
       .subresources =
           {{.name = "finalize", .group = "", .version = "", .kind = "Namespace", .verbs = {"update"}},
            Status("Namespace")},
       .message = "io.k8s.api.core.v1.Namespace",
       .storage = "namespaces",
       .strategy = Static(NamespaceStrategy())},
      {.group = "",
       .version = "v1",
       .kind = "Node",
       .plural = "nodes",
       .singular = "node",
       .namespaced = false,
       .short_names = {"no"},
       .categories = {},
       .verbs = EveryVerb(),
       .subresources = {Status("Node")},
       .message = "io.k8s.api.core.v1.Node",
       .storage = "nodes",
       .etcd_prefix = "minions",
       .strategy = Static(NodeStrategy())},
  };
}

std::vector<ResourceInfo> CoreWorkloads() {
  return {
      {.group = "",
       .version = "v1",
       .kind = "Pod",
       .plural = "pods",
       .singular = "pod",
       .namespaced = true,
       .short_names = {"po"},
       .categories = {"all"},
       .verbs = EveryVerb(),
       .subresources =
           {Connection("attach", "PodAttachOptions"),
            {.name = "binding", .group = "", .version = "", .kind = "Binding", .verbs = {"create"}},
            {.name = "eviction", .group = "policy", .version = "v1", .kind = "Eviction", .verbs = {"create"}},
            Connection("exec", "PodExecOptions"),
            {.name = "log", .group = "", .version = "", .kind = "Pod", .verbs = {"get"}},
            Connection("portforward", "PodPortForwardOptions"),
            Status("Pod")},
       .message = "io.k8s.api.core.v1.Pod",
       .storage = "pods",
       .strategy = Static(PodStrategy())},
      {.group = "",
       .version = "v1",
       .kind = "ReplicationController",
       .plural = "replicationcontrollers",
       .singular = "replicationcontroller",
       .namespaced = true,
       .short_names = {"rc"},
       .categories = {"all"},
       .verbs = EveryVerb(),
       .subresources = {Scale(), Status("ReplicationController")},
       .message = "io.k8s.api.core.v1.ReplicationController",
       .storage = "replicationcontrollers",
       .etcd_prefix = "controllers",
       .strategy = Static(ReplicationControllerStrategy())},
      {.group = "",
       .version = "v1",
       .kind = "ResourceQuota",
       .plural = "resourcequotas",
       .singular = "resourcequota",
       .namespaced = true,
       .short_names = {"quota"},
       .categories = {},
       .verbs = EveryVerb(),
       .subresources = {Status("ResourceQuota")},
       .message = "io.k8s.api.core.v1.ResourceQuota",
       .storage = "resourcequotas",
       .strategy = Static(ResourceQuotaStrategy())},
      {.group = "",
       .version = "v1",
       .kind = "Secret",
       .plural = "secrets",
       .singular = "secret",
       .namespaced = true,
       .short_names = {},
       .categories = {},
       .verbs = EveryVerb(),
       .subresources = {},
       .message = "io.k8s.api.core.v1.Secret",
       .storage = "secrets",
       .strategy = Static(SecretStrategy())},
      {.group = "",
       .version = "v1",
       .kind = "ServiceAccount",
       .plural = "serviceaccounts",
       .singular = "serviceaccount",
       .namespaced = true,
       .short_names = {"sa"},
       .categories = {},
       .verbs = EveryVerb(),
       .subresources = {},
       .message = "io.k8s.api.core.v1.ServiceAccount",
       .storage = "serviceaccounts",
       .strategy = Static(ServiceAccountStrategy())},
      {.group = "",
       .version = "v1",
       .kind = "Service",
       .plural = "services",
       .singular = "service",
       .namespaced = true,
       .short_names = {"svc"},
       .categories = {"all"},
       .verbs = EveryVerb(),
       .subresources = {Status("Service")},
       .message = "io.k8s.api.core.v1.Service",
       .storage = "services",
       .etcd_prefix = "services/specs",
       .strategy = Static(ServiceStrategy())},
  };
}

std::vector<ResourceInfo> Apps() {
  return {
      {.group = "apps",
       .version = "v1",
       .kind = "ControllerRevision",
       .plural = "controllerrevisions",
       .singular = "controllerrevision",
       .namespaced = true,
       .short_names = {},
       .categories = {},
       .verbs = EveryVerb(),
       .subresources = {},
       .message = "io.k8s.api.apps.v1.ControllerRevision",
       .storage = "controllerrevisions",
       .strategy = Static(ControllerRevisionStrategy())},
      {.group = "apps",
       .version = "v1",
       .kind = "DaemonSet",
       .plural = "daemonsets",
       .singular = "daemonset",
       .namespaced = true,
       .short_names = {"ds"},
       .categories = {"all"},
       .verbs = EveryVerb(),
       .subresources = {Status("DaemonSet")},
       .message = "io.k8s.api.apps.v1.DaemonSet",
       .storage = "daemonsets",
       .strategy = Static(DaemonSetStrategy())},
      {.group = "apps",
       .version = "v1",
       .kind = "Deployment",
       .plural = "deployments",
       .singular = "deployment",
       .namespaced = true,
       .short_names = {"deploy"},
       .categories = {"all"},
       .verbs = EveryVerb(),
       .subresources = {Scale(), Status("Deployment")},
       .message = "io.k8s.api.apps.v1.Deployment",
       .storage = "deployments",
       .strategy = Static(DeploymentStrategy())},
      {.group = "apps",
       .version = "v1",
       .kind = "ReplicaSet",
       .plural = "replicasets",
       .singular = "replicaset",
       .namespaced = true,
       .short_names = {"rs"},
       .categories = {"all"},
       .verbs = EveryVerb(),
       .subresources = {Scale(), Status("ReplicaSet")},
       .message = "io.k8s.api.apps.v1.ReplicaSet",
       .storage = "replicasets",
       .strategy = Static(ReplicaSetStrategy())},
      {.group = "apps",
       .version = "v1",
       .kind = "StatefulSet",
       .plural = "statefulsets",
       .singular = "statefulset",
       .namespaced = true,
       .short_names = {"sts"},
       .categories = {"all"},
       .verbs = EveryVerb(),
       .subresources = {Scale(), Status("StatefulSet")},
       .message = "io.k8s.api.apps.v1.StatefulSet",
       .storage = "statefulsets",
       .strategy = Static(StatefulSetStrategy())},
  };
}

std::vector<ResourceInfo> Events() {
  return {
      {.group = "events.k8s.io",
       .version = "v1",
       .kind = "Event",
       .plural = "events",
       .singular = "event",
       .namespaced = true,
       .short_names = {"ev"},
       .categories = {},
       .verbs = EveryVerb(),
       .subresources = {},
       .message = "io.k8s.api.events.v1.Event",
       .storage = "events",
       .strategy = Static(EventsV1Strategy())},
  };
}

std::vector<ResourceInfo> Authentication() {
  constexpr const char* kGroup = "authentication.k8s.io";
  return {
      Virtual(kGroup, "SelfSubjectReview", "selfsubjectreviews", "selfsubjectreview", false,
              "io.k8s.api.authentication.v1.SelfSubjectReview"),
      Virtual(kGroup, "TokenReview", "tokenreviews", "tokenreview", false,
              "io.k8s.api.authentication.v1.TokenReview"),
  };
}

std::vector<ResourceInfo> Authorization() {
  constexpr const char* kGroup = "authorization.k8s.io";
  return {
      Virtual(kGroup, "LocalSubjectAccessReview", "localsubjectaccessreviews", "localsubjectaccessreview",
              true, "io.k8s.api.authorization.v1.LocalSubjectAccessReview"),
      Virtual(kGroup, "SelfSubjectAccessReview", "selfsubjectaccessreviews", "selfsubjectaccessreview", false,
              "io.k8s.api.authorization.v1.SelfSubjectAccessReview"),
      Virtual(kGroup, "SelfSubjectRulesReview", "selfsubjectrulesreviews", "selfsubjectrulesreview", false,
              "io.k8s.api.authorization.v1.SelfSubjectRulesReview"),
      Virtual(kGroup, "SubjectAccessReview", "subjectaccessreviews", "subjectaccessreview", false,
              "io.k8s.api.authorization.v1.SubjectAccessReview"),
  };
}

std::vector<ResourceInfo> Batch() {
  return {
      {.group = "batch",
       .version = "v1",
       .kind = "CronJob",
       .plural = "cronjobs",
       .singular = "cronjob",
       .namespaced = true,
       .short_names = {"cj"},
       .categories = {"all"},
       .verbs = EveryVerb(),
       .subresources = {Status("CronJob")},
       .message = "io.k8s.api.batch.v1.CronJob",
       .storage = "cronjobs",
       .strategy = Static(CronJobStrategy())},
      {.group = "batch",
       .version = "v1",
       .kind = "Job",
       .plural = "jobs",
       .singular = "job",
       .namespaced = true,
       .short_names = {},
       .categories = {"all"},
       .verbs = EveryVerb(),
       .subresources = {Status("Job")},
       .message = "io.k8s.api.batch.v1.Job",
       .storage = "jobs",
       .strategy = Static(JobStrategy())},
  };
}

std::vector<ResourceInfo> Policy() {
  return {
      {.group = "policy",
       .version = "v1",
       .kind = "PodDisruptionBudget",
       .plural = "poddisruptionbudgets",
       .singular = "poddisruptionbudget",
       .namespaced = true,
       .short_names = {"pdb"},
       .categories = {},
       .verbs = EveryVerb(),
       .subresources = {Status("PodDisruptionBudget")},
       .message = "io.k8s.api.policy.v1.PodDisruptionBudget",
       .storage = "poddisruptionbudgets",
       .strategy = Static(PodDisruptionBudgetStrategy())},
  };
}

std::vector<ResourceInfo> Coordination() {
  return {
      {.group = "coordination.k8s.io",
       .version = "v1",
       .kind = "Lease",
       .plural = "leases",
       .singular = "lease",
       .namespaced = true,
       .short_names = {},
       .categories = {},
       .verbs = EveryVerb(),
       .subresources = {},
       .message = "io.k8s.api.coordination.v1.Lease",
       .storage = "leases",
       .strategy = Static(LeaseStrategy())},
  };
}

}  // namespace

std::vector<ResourcePtr> BuiltInResources() {
  // Groups in the order in which Kubernetes ranks them; inside a group by resource name, as discovery lists
  // them.
  std::vector<ResourceInfo> (*const parts[])() = {
      CoreConfig, CoreWorkloads, Apps, Events, Authentication, Authorization, Batch, Policy, Coordination};
  std::vector<ResourcePtr> out;
  for (auto part : parts) {
    for (ResourceInfo& resource : part()) {
      auto owner = std::find_if(out.begin(), out.end(), [&](const ResourcePtr& other) {
        return !resource.storage.empty() && other->storage == resource.storage;
      });
      if (owner != out.end()) resource.stored_as = *owner;
      resource.serial = NextResourceSerial();
      out.push_back(std::make_shared<const ResourceInfo>(std::move(resource)));
    }
  }
  return out;
}

}  // namespace terrarium::apiserver
