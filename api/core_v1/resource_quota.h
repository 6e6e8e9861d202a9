#pragma once

// What ResourceQuotas count and for how much: shared by the apiserver, which takes from quotas what is
// created, and by the controller, which counts again. Pure. Mirrors pkg/quota/v1/evaluator/core, v1.36.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/errors.h"
#include "api/core_v1/resource_list.h"
#include "api/json.h"

namespace terrarium::api {

// Whether a limit of this name counts objects of the resource: "pods", "requests.cpu", "count/jobs.batch",
// ...
bool QuotaCounts(const GroupResource& resource, std::string_view name);
// Resources that no quota ever counts.
bool IsFreeOfQuota(const GroupResource& resource);

// What of an object quotas look at.
struct QuotaSubject {
  GroupResource resource;
  ResourceList usage;  // under every name it can be counted by
  // Pods only, for scopes:
  bool is_pod = false;
  bool best_effort = false;
  bool has_deadline = false;  // the scope Terminating means activeDeadlineSeconds, not deletion
  bool crosses_namespaces = false;
  std::string priority_class;
  // Of cpu and memory, limited or requested: the containers that do not say how much they want, sorted. A
  // quota that counts the resource refuses such a pod.
  std::map<std::string, std::vector<std::string>> unsaid;
};
// Pods that have ended, or that should have gone by now, count as objects only. A terminating pod is given
// its grace period once more after its deletionTimestamp, as in Kubernetes.
QuotaSubject QuotaSubjectOf(const GroupResource& resource, const Json& object, Time now);

// spec.scopes and spec.scopeSelector all let the subject in; only pods are in any scope.
bool InQuotaScopes(const Json& quota_spec, const QuotaSubject& subject);

// The names among `hard` that count the subject's resource, whether or not the subject uses any of it.
std::vector<std::string> CountedNames(const ResourceList& hard, const GroupResource& resource);
// The subject's usage under the names in `hard`.
ResourceList UsageUnder(const ResourceList& hard, const QuotaSubject& subject);

}  // namespace terrarium::api
