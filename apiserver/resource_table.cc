#include "apiserver/resource_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apiserver/strategies.h"
#include "apiserver/strategy/event_conversion.h"

namespace terrarium::apiserver {
namespace {

using Names = std::vector<std::string_view>;
using Resources = std::vector<ResourceInfo>;

Names EveryVerb() { return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}; }

SubresourceInfo Status(std::string_view kind) {
  return {.name = "status", .group = "", .version = "", .kind = kind, .verbs = {"get", "patch", "update"}};
}

SubresourceInfo Scale() {
  return {.name = "scale", .group = "autoscaling", .version = "v1", .kind = "Scale", .verbs = {"get", "patch", "update"}};
}

// A kind that is answered and never stored.
ResourceInfo Virtual(std::string_view group, std::string_view kind, std::string_view plural, std::string_view singular,
                     bool namespaced, std::string_view message) {
  return {.group = group, .version = "v1", .kind = kind, .plural = plural, .singular = singular,
          .namespaced = namespaced, .short_names = {}, .categories = {}, .verbs = {"create"}, .subresources = {},
          .message = message, .storage = "", .strategy = nullptr};
}

Resources CoreConfig() {
  return {
      Virtual("", "Binding", "bindings", "binding", true, "io.k8s.api.core.v1.Binding"),
      {.group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .singular = "configmap",
       .namespaced = true, .short_names = {"cm"}, .categories = {}, .verbs = EveryVerb(), .subresources = {},
       .message = "io.k8s.api.core.v1.ConfigMap", .storage = "configmaps", .strategy = &ConfigMapStrategy()},
      {.group = "", .version = "v1", .kind = "Event", .plural = "events", .singular = "event", .namespaced = true,
       .short_names = {"ev"}, .categories = {}, .verbs = EveryVerb(), .subresources = {},
       .message = "io.k8s.api.core.v1.Event", .storage = "events", .strategy = &EventStrategy()},
      {.group = "", .version = "v1", .kind = "Namespace", .plural = "namespaces", .singular = "namespace",
       .namespaced = false, .short_names = {"ns"}, .categories = {},
       .verbs = {"create", "delete", "get", "list", "patch", "update", "watch"},
       .subresources = {{.name = "finalize", .group = "", .version = "", .kind = "Namespace", .verbs = {"update"}},
                        Status("Namespace")},
       .message = "io.k8s.api.core.v1.Namespace", .storage = "namespaces", .strategy = &NamespaceStrategy()},
      {.group = "", .version = "v1", .kind = "Node", .plural = "nodes", .singular = "node", .namespaced = false,
       .short_names = {"no"}, .categories = {}, .verbs = EveryVerb(), .subresources = {Status("Node")},
       .message = "io.k8s.api.core.v1.Node", .storage = "nodes", .strategy = &NodeStrategy()},
  };
}

Resources CoreWorkloads() {
  return {
      {.group = "", .version = "v1", .kind = "Pod", .plural = "pods", .singular = "pod", .namespaced = true,
       .short_names = {"po"}, .categories = {"all"}, .verbs = EveryVerb(),
       .subresources = {{.name = "binding", .group = "", .version = "", .kind = "Binding", .verbs = {"create"}},
                        {.name = "eviction", .group = "policy", .version = "v1", .kind = "Eviction",
                         .verbs = {"create"}},
                        {.name = "log", .group = "", .version = "", .kind = "Pod", .verbs = {"get"}},
                        Status("Pod")},
       .message = "io.k8s.api.core.v1.Pod", .storage = "pods", .strategy = &PodStrategy()},
      {.group = "", .version = "v1", .kind = "ReplicationController", .plural = "replicationcontrollers",
       .singular = "replicationcontroller", .namespaced = true, .short_names = {"rc"}, .categories = {"all"},
       .verbs = EveryVerb(), .subresources = {Scale(), Status("ReplicationController")},
       .message = "io.k8s.api.core.v1.ReplicationController", .storage = "replicationcontrollers",
       .strategy = &ReplicationControllerStrategy()},
      {.group = "", .version = "v1", .kind = "ResourceQuota", .plural = "resourcequotas", .singular = "resourcequota",
       .namespaced = true, .short_names = {"quota"}, .categories = {}, .verbs = EveryVerb(),
       .subresources = {Status("ResourceQuota")}, .message = "io.k8s.api.core.v1.ResourceQuota",
       .storage = "resourcequotas", .strategy = &ResourceQuotaStrategy()},
      {.group = "", .version = "v1", .kind = "Secret", .plural = "secrets", .singular = "secret", .namespaced = true,
       .short_names = {}, .categories = {}, .verbs = EveryVerb(), .subresources = {},
       .message = "io.k8s.api.core.v1.Secret", .storage = "secrets", .strategy = &SecretStrategy()},
      {.group = "", .version = "v1", .kind = "ServiceAccount", .plural = "serviceaccounts",
       .singular = "serviceaccount", .namespaced = true, .short_names = {"sa"}, .categories = {},
       .verbs = EveryVerb(), .subresources = {}, .message = "io.k8s.api.core.v1.ServiceAccount",
       .storage = "serviceaccounts", .strategy = &ServiceAccountStrategy()},
      {.group = "", .version = "v1", .kind = "Service", .plural = "services", .singular = "service",
       .namespaced = true, .short_names = {"svc"}, .categories = {"all"}, .verbs = EveryVerb(),
       .subresources = {Status("Service")}, .message = "io.k8s.api.core.v1.Service", .storage = "services",
       .strategy = &ServiceStrategy()},
  };
}

Resources Apps() {
  return {
      {.group = "apps", .version = "v1", .kind = "ControllerRevision", .plural = "controllerrevisions",
       .singular = "controllerrevision", .namespaced = true, .short_names = {}, .categories = {},
       .verbs = EveryVerb(), .subresources = {}, .message = "io.k8s.api.apps.v1.ControllerRevision",
       .storage = "controllerrevisions", .strategy = &ControllerRevisionStrategy()},
      {.group = "apps", .version = "v1", .kind = "DaemonSet", .plural = "daemonsets", .singular = "daemonset",
       .namespaced = true, .short_names = {"ds"}, .categories = {"all"}, .verbs = EveryVerb(),
       .subresources = {Status("DaemonSet")}, .message = "io.k8s.api.apps.v1.DaemonSet", .storage = "daemonsets",
       .strategy = &DaemonSetStrategy()},
      {.group = "apps", .version = "v1", .kind = "Deployment", .plural = "deployments", .singular = "deployment",
       .namespaced = true, .short_names = {"deploy"}, .categories = {"all"}, .verbs = EveryVerb(),
       .subresources = {Scale(), Status("Deployment")}, .message = "io.k8s.api.apps.v1.Deployment",
       .storage = "deployments", .strategy = &DeploymentStrategy()},
      {.group = "apps", .version = "v1", .kind = "ReplicaSet", .plural = "replicasets", .singular = "replicaset",
       .namespaced = true, .short_names = {"rs"}, .categories = {"all"}, .verbs = EveryVerb(),
       .subresources = {Scale(), Status("ReplicaSet")}, .message = "io.k8s.api.apps.v1.ReplicaSet",
       .storage = "replicasets", .strategy = &ReplicaSetStrategy()},
      {.group = "apps", .version = "v1", .kind = "StatefulSet", .plural = "statefulsets", .singular = "statefulset",
       .namespaced = true, .short_names = {"sts"}, .categories = {"all"}, .verbs = EveryVerb(),
       .subresources = {Scale(), Status("StatefulSet")}, .message = "io.k8s.api.apps.v1.StatefulSet",
       .storage = "statefulsets", .strategy = &StatefulSetStrategy()},
  };
}

Resources Events() {
  return {
      {.group = "events.k8s.io", .version = "v1", .kind = "Event", .plural = "events", .singular = "event",
       .namespaced = true, .short_names = {"ev"}, .categories = {}, .verbs = EveryVerb(), .subresources = {},
       .message = "io.k8s.api.events.v1.Event", .storage = "events", .strategy = &EventsV1Strategy()},
  };
}

Resources Authentication() {
  constexpr std::string_view kGroup = "authentication.k8s.io";
  return {
      Virtual(kGroup, "SelfSubjectReview", "selfsubjectreviews", "selfsubjectreview", false,
              "io.k8s.api.authentication.v1.SelfSubjectReview"),
      Virtual(kGroup, "TokenReview", "tokenreviews", "tokenreview", false,
              "io.k8s.api.authentication.v1.TokenReview"),
  };
}

Resources Authorization() {
  constexpr std::string_view kGroup = "authorization.k8s.io";
  return {
      Virtual(kGroup, "LocalSubjectAccessReview", "localsubjectaccessreviews", "localsubjectaccessreview", true,
              "io.k8s.api.authorization.v1.LocalSubjectAccessReview"),
      Virtual(kGroup, "SelfSubjectAccessReview", "selfsubjectaccessreviews", "selfsubjectaccessreview", false,
              "io.k8s.api.authorization.v1.SelfSubjectAccessReview"),
      Virtual(kGroup, "SelfSubjectRulesReview", "selfsubjectrulesreviews", "selfsubjectrulesreview", false,
              "io.k8s.api.authorization.v1.SelfSubjectRulesReview"),
      Virtual(kGroup, "SubjectAccessReview", "subjectaccessreviews", "subjectaccessreview", false,
              "io.k8s.api.authorization.v1.SubjectAccessReview"),
  };
}

Resources Batch() {
  return {
      {.group = "batch", .version = "v1", .kind = "CronJob", .plural = "cronjobs", .singular = "cronjob",
       .namespaced = true, .short_names = {"cj"}, .categories = {"all"}, .verbs = EveryVerb(),
       .subresources = {Status("CronJob")}, .message = "io.k8s.api.batch.v1.CronJob", .storage = "cronjobs",
       .strategy = &CronJobStrategy()},
      {.group = "batch", .version = "v1", .kind = "Job", .plural = "jobs", .singular = "job", .namespaced = true,
       .short_names = {}, .categories = {"all"}, .verbs = EveryVerb(), .subresources = {Status("Job")},
       .message = "io.k8s.api.batch.v1.Job", .storage = "jobs", .strategy = &JobStrategy()},
  };
}

Resources Policy() {
  return {
      {.group = "policy", .version = "v1", .kind = "PodDisruptionBudget", .plural = "poddisruptionbudgets",
       .singular = "poddisruptionbudget", .namespaced = true, .short_names = {"pdb"}, .categories = {},
       .verbs = EveryVerb(), .subresources = {Status("PodDisruptionBudget")},
       .message = "io.k8s.api.policy.v1.PodDisruptionBudget", .storage = "poddisruptionbudgets",
       .strategy = &PodDisruptionBudgetStrategy()},
  };
}

Resources Coordination() {
  return {
      {.group = "coordination.k8s.io", .version = "v1", .kind = "Lease", .plural = "leases", .singular = "lease",
       .namespaced = true, .short_names = {}, .categories = {}, .verbs = EveryVerb(), .subresources = {},
       .message = "io.k8s.api.coordination.v1.Lease", .storage = "leases", .strategy = &LeaseStrategy()},
  };
}

}  // namespace

std::string ResourceInfo::GroupVersion() const {
  return group.empty() ? std::string(version) : std::string(group).append("/").append(version);
}

api::GroupResource ResourceInfo::Resource() const { return {std::string(group), std::string(plural)}; }

api::GroupKind ResourceInfo::Kind() const { return {std::string(group), std::string(kind)}; }

const api::Message& ResourceInfo::Schema() const { return api::Schema::Get().Must(message); }

const SubresourceInfo* ResourceInfo::Subresource(std::string_view name) const {
  auto it = std::find_if(subresources.begin(), subresources.end(),
                         [&](const SubresourceInfo& s) { return s.name == name; });
  return it == subresources.end() ? nullptr : &*it;
}

bool ResourceInfo::HasVerb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const ResourceTable& ResourceTable::Get() {
  static const ResourceTable table;
  return table;
}

ResourceTable::ResourceTable() {
  // Groups in the order in which Kubernetes ranks them; inside a group by resource name, as discovery lists them.
  Resources (*const parts[])() = {CoreConfig, CoreWorkloads, Apps,   Events,      Authentication,
                                  Authorization, Batch,      Policy, Coordination};
  for (auto part : parts) {
    Resources more = part();
    std::move(more.begin(), more.end(), std::back_inserter(resources_));
  }
  for (const ResourceInfo& r : resources_) {
    if (group_versions_.empty() || group_versions_.back().group != r.group)
      group_versions_.push_back({r.group, r.version});
  }
}

const ResourceInfo* ResourceTable::Find(std::string_view group, std::string_view version,
                                        std::string_view plural) const {
  auto it = std::find_if(resources_.begin(), resources_.end(), [&](const ResourceInfo& r) {
    return r.plural == plural && r.group == group && r.version == version;
  });
  return it == resources_.end() ? nullptr : &*it;
}

const ResourceInfo* ResourceTable::FindKind(std::string_view group, std::string_view version,
                                            std::string_view kind) const {
  auto it = std::find_if(resources_.begin(), resources_.end(), [&](const ResourceInfo& r) {
    return r.kind == kind && r.group == group && r.version == version;
  });
  return it == resources_.end() ? nullptr : &*it;
}

const ResourceInfo* ResourceTable::FindStorage(std::string_view storage) const {
  auto it = std::find_if(resources_.begin(), resources_.end(), [&](const ResourceInfo& r) {
    return r.strategy != nullptr && r.storage == storage;
  });
  return it == resources_.end() ? nullptr : &*it;
}

bool ResourceTable::HasGroup(std::string_view group) const {
  return std::any_of(group_versions_.begin(), group_versions_.end(),
                     [&](const terrarium::apiserver::GroupVersion& g) { return g.group == group; });
}

}  // namespace terrarium::apiserver
