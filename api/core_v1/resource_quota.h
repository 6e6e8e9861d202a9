#pragma once

// Usage as ResourceQuotas count it: shared by the apiserver, which charges new objects, and by the
// controller, which recounts. Pure. Mirrors pkg/quota/v1/evaluator/core, v1.36.

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

// The properties of an object that quotas depend on.
struct QuotaSubject {
  GroupResource resource;
  ResourceList usage;  // under every name it can be counted by
  // Pods only, for scopes:
  bool is_pod = false;
  bool best_effort = false;
  bool has_deadline = false;  // the scope Terminating means activeDeadlineSeconds, not deletion
  bool crosses_namespaces = false;
  std::string priority_class;
  // Of cpu and memory, limited or requested: the containers without a value, sorted. A quota that counts the
  // resource refuses such a pod.
  std::map<std::string, std::vector<std::string>> missing_resources;
};
// Pods that have ended, or whose deletion is overdue, count as objects only. A deletion is overdue when a
// further grace period has passed after the deletionTimestamp, as in Kubernetes.
QuotaSubject QuotaSubjectOf(const GroupResource& resource, const Json& object, Time now);

// Whether spec.scopes and spec.scopeSelector all match the subject; only pods match a scope.
bool InQuotaScopes(const Json& quota_spec, const QuotaSubject& subject);

// The names among `hard` that count the subject's resource, whether or not the subject uses any of it.
std::vector<std::string> CountedNames(const ResourceList& hard, const GroupResource& resource);
// The subject's usage under the names in `hard`.
ResourceList UsageUnder(const ResourceList& hard, const QuotaSubject& subject);

}  // namespace terrarium::api
