// Resources of the pod as a whole: its own requests and limits, its claims, and its class of service.

#include <algorithm>

#include "api/core_v1/resource_list.h"
#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver {
namespace pod_rules {
namespace {

void CheckContainerLimits(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json& containers = ListAt(spec, "containers");
  for (std::size_t i = 0; i < containers.size(); ++i) {
    for (const auto& [name, text] : ObjectAt(containers[i], "resources", "limits").items()) {
      const Json* pod_text = Find(spec, "resources", "limits", name);
      if (pod_text == nullptr) continue;
      const api::Quantity limit = QuantityOf(text);
      const api::Quantity pod_limit = QuantityOf(*pod_text);
      if (limit <= pod_limit) continue;
      errors.push_back(
          api::InvalidError(path.Child("containers").Index(i).Key(name).Child("limits"), limit.ToString(),
                            "must be less than or equal to pod limits of " + pod_limit.ToString()));
    }
  }
}

// Requires the sum of the containers' requests to fit into the pod-level requests.
void CheckAggregate(const Json& spec, std::string_view list, const Path& path, FieldErrors& errors) {
  for (const auto& [name, amount] : api::ContainersTotal(spec, list)) {
    if (list == "limits" && !IsHugePageResource(name)) continue;
    const Json* text = Find(spec, "resources", list, name);
    if (text == nullptr) continue;
    const api::Quantity pod_amount = QuantityOf(*text);
    if (amount <= pod_amount) continue;
    errors.push_back(api::InvalidError(path.Child(list).Key(name), pod_amount.ToString(),
                                       "must be greater than or equal to aggregate container " +
                                           std::string(list) + " of " + amount.ToString()));
  }
}

}  // namespace

void CheckPodLevelResources(const PodScope& scope, const Path& path, FieldErrors& errors) {
  const Json* resources = Find(scope.spec, "resources");
  if (resources == nullptr) return;
  const Path here = path.Child("resources");
  if (StringAt(scope.spec, "os", "name") == "windows") {
    errors.push_back(api::ForbiddenError(here, "may not be set for a windows pod"));
    return;
  }
  if (Find(*resources, "claims") != nullptr) {
    errors.push_back(
        api::ForbiddenError(here.Child("claims"), "claims may not be set for Resources at pod-level"));
  }
  CheckResources(*resources, ResourceOwner::kPod, scope, here, errors);
  CheckAggregate(scope.spec, "requests", here, errors);
  CheckAggregate(scope.spec, "limits", here, errors);
  CheckContainerLimits(scope.spec, here, errors);
}

void CheckResourceClaims(const PodScope& scope, const Json& pod_metadata, const Path& path,
                         FieldErrors& errors) {
  const Json& claims = ListAt(scope.spec, "resourceClaims");
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Path here = path.Index(i);
    if (Find(pod_metadata, "annotations", "kubernetes.io/config.mirror") != nullptr) {
      errors.push_back(api::ForbiddenError(Path(), "static pods do not support resource claims"));
      continue;
    }
    const std::string_view name = StringAt(claims[i], "name");
    if (RequireText(claims[i], "name", here, errors)) {
      if (!seen.insert(name).second) {
        errors.push_back(api::DuplicateError(here.Child("name"), name));
      } else {
        CheckDnsLabel(name, here.Child("name"), errors);
      }
    }
    const Json* claim = Find(claims[i], "resourceClaimName");
    const Json* claim_template = Find(claims[i], "resourceClaimTemplateName");
    if (claim != nullptr && claim_template != nullptr) {
      errors.push_back(api::InvalidError(
          here, claims[i],
          "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"));
    }
    if (claim == nullptr && claim_template == nullptr) {
      errors.push_back(api::InvalidError(
          here, claims[i], "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
    }
    if (claim != nullptr) CheckSubdomain(TextOf(*claim), here.Child("resourceClaimName"), errors);
    if (claim_template != nullptr) {
      CheckSubdomain(TextOf(*claim_template), here.Child("resourceClaimTemplateName"), errors);
    }
  }
}

}  // namespace pod_rules

namespace {

using namespace pod_rules;  // NOLINT: the helpers of this folder

// The positive cpu and memory amounts of a list.
std::map<std::string, api::Quantity> Compute(const Json& list) {
  std::map<std::string, api::Quantity> out;
  for (const char* name : {"cpu", "memory"}) {
    const Json* text = Find(list, name);
    if (text == nullptr) continue;
    const api::Quantity amount = QuantityOf(*text);
    if (amount.Sign() > 0) out[name] = amount;
  }
  return out;
}

}  // namespace

std::string PodQosClass(const Json& pod_spec) {
  std::map<std::string, api::Quantity> requests;
  std::map<std::string, api::Quantity> limits;
  bool guaranteed = true;
  if (const Json* own = Find(pod_spec, "resources")) {
    requests = Compute(ObjectAt(*own, "requests"));
    limits = Compute(ObjectAt(*own, "limits"));
    if (!ObjectAt(*own, "limits").empty() && limits.size() < 2) guaranteed = false;
  } else {
    for (const char* list : {"containers", "initContainers"}) {
      for (const Json& container : ListAt(pod_spec, list)) {
        for (const auto& [name, amount] : Compute(ObjectAt(container, "resources", "requests"))) {
          requests[name].Add(amount);
        }
        const auto found = Compute(ObjectAt(container, "resources", "limits"));
        for (const auto& [name, amount] : found) limits[name].Add(amount);
        if (found.size() < 2) guaranteed = false;
      }
    }
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  guaranteed = guaranteed && requests.size() == limits.size() &&
               std::all_of(requests.begin(), requests.end(), [&](const auto& request) {
                 const auto limit = limits.find(request.first);
                 return limit != limits.end() && limit->second == request.second;
               });
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace terrarium::apiserver
