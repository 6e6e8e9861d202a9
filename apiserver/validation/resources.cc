// Requests, limits and claims of containers and pods.

#include "apiserver/validation/internal/pod_rules.h"
#include "apiserver/validation/resource_names.h"

namespace terrarium::apiserver::pod_rules {
namespace {

bool IsNative(std::string_view name) {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}

bool IsExtended(std::string_view name) {
  if (IsNative(name) || name.starts_with("requests.")) return false;
  // It must still be a valid name when a quota counts it.
  return IsQualifiedName("requests." + std::string(name)).empty();
}

bool IsStandard(std::string_view name) {
  static const std::set<std::string_view> kNames = {"configmaps",
                                                    "cpu",
                                                    "ephemeral-storage",
                                                    "limits.cpu",
                                                    "limits.memory",
                                                    "memory",
                                                    "persistentvolumeclaims",
                                                    "limits.ephemeral-storage",
                                                    "pods",
                                                    "requests.cpu",
                                                    "requests.ephemeral-storage",
                                                    "replicationcontrollers",
                                                    "requests.memory",
                                                    "requests.storage",
                                                    "resourcequotas",
                                                    "secrets",
                                                    "services",
                                                    "services.loadbalancers",
                                                    "services.nodeports",
                                                    "storage"};
  return kNames.contains(name) || IsHugePageResource(name) || name.starts_with("requests.hugepages-");
}

bool IsInteger(std::string_view name) {
  static const std::set<std::string_view> kNames = {"configmaps",
                                                    "persistentvolumeclaims",
                                                    "pods",
                                                    "replicationcontrollers",
                                                    "resourcequotas",
                                                    "secrets",
                                                    "services",
                                                    "services.loadbalancers",
                                                    "services.nodeports"};
  return kNames.contains(name) || IsExtended(name);
}

bool IsPlain(std::string_view name) { return name.find('/') == std::string_view::npos; }

void CheckKnownName(std::string_view name, const Path& path, FieldErrors& errors) {
  const std::size_t before = errors.size();
  AddInvalid(IsQualifiedName(name), name, path, errors);
  if (errors.size() == before && IsPlain(name) && !IsStandard(name)) {
    errors.push_back(api::InvalidError(path, name, "must be a standard resource type or fully qualified"));
  }
}

void CheckResourceName(std::string_view name, ResourceOwner owner, const Path& path, FieldErrors& errors) {
  const std::size_t before = errors.size();
  CheckKnownName(name, path, errors);
  const bool plain = IsPlain(name);
  if (owner == ResourceOwner::kPod) {
    if (errors.size() == before && !IsPodLevelResource(name)) {
      errors.push_back(api::NotSupportedError(path, name, {"cpu", "hugepages-", "memory"}));
    }
    return;
  }
  if (plain) {
    if (name != "cpu" && name != "memory" && name != "ephemeral-storage" && !IsHugePageResource(name)) {
      errors.push_back(api::InvalidError(path, name, "must be a standard resource for containers"));
    }
  } else if (!IsNative(name) && !IsExtended(name)) {
    errors.push_back(api::InvalidError(path, name, "doesn't follow extended resource name standard"));
  }
}

void CheckAmount(std::string_view name, const api::Quantity& amount, const Path& path, FieldErrors& errors) {
  if (amount.Sign() < 0) {
    errors.push_back(api::InvalidError(path, amount.ToString(), "must be greater than or equal to 0"));
  }
  if (IsInteger(name) && amount.MilliValue() % 1000 != 0) {
    errors.push_back(api::InvalidError(path, amount.ToString(), "must be an integer"));
  }
}

void CheckHugePages(std::string_view name, const api::Quantity& amount, const Path& path,
                    FieldErrors& errors) {
  if (!IsHugePageResource(name)) return;
  const Json size_text(name.substr(std::string_view("hugepages-").size()));
  const api::Quantity size = QuantityOf(size_text);
  if (size.Sign() > 0 && size.MilliValue() % 1000 == 0 && amount.Value() % size.Value() == 0) return;
  errors.push_back(
      api::InvalidError(path, amount.ToString(),
                        amount.ToString() + " is not positive integer multiple of " + std::string(name)));
}

void CheckAgainstLimit(std::string_view name, const api::Quantity& request, const Json& limits,
                       const Path& path, FieldErrors& errors) {
  const Json* text = Find(limits, name);
  if (text == nullptr) {
    if (!IsOvercommitAllowed(name)) {
      errors.push_back(
          api::RequiredError(path.Child("limits"), "Limit must be set for non overcommitable resources"));
    }
    return;
  }
  const api::Quantity limit = QuantityOf(*text);
  const bool exact = !IsOvercommitAllowed(name);
  if (exact ? request == limit : request <= limit) return;
  errors.push_back(
      api::InvalidError(path.Child("requests"), request.ToString(),
                        std::string(exact ? "must be equal to " : "must be less than or equal to ") +
                            std::string(name) + " limit of " + limit.ToString()));
}

void CheckClaimNames(const Json& claims, const PodScope& scope, const Path& path, FieldErrors& errors) {
  std::set<std::string> seen;  // "claim" or "claim/request"
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const std::string name(StringAt(claims[i], "name"));
    const std::string_view request = StringAt(claims[i], "request");
    if (name.empty()) {
      errors.push_back(api::RequiredError(path.Index(i)));
      continue;
    }
    if (seen.contains(name)) {
      errors.push_back(api::DuplicateError(path.Index(i), name));
    } else {
      if (!request.empty()) CheckDnsLabel(request, path.Index(i).Child("request"), errors);
      const std::string key = request.empty() ? name : name + "/" + std::string(request);
      if (seen.contains(key)) {
        errors.push_back(api::DuplicateError(path.Index(i), key));
      } else if (request.empty()) {
        const std::string prefix = name + "/";
        for (auto other = seen.lower_bound(prefix); other != seen.end() && other->starts_with(prefix);
             ++other) {
          errors.push_back(api::DuplicateError(path.Index(i), name));
        }
      }
      seen.insert(key);
    }
    if (scope.claims.contains(name) || scope.claims_printed >= api::kRepeatedTextMax) continue;
    api::FieldError error = api::NotFoundFieldError(path.Index(i), name);
    error.message += ": must be one of the names in pod.spec.resourceClaims";
    const char* separator = ": ";
    for (const std::string& claim : scope.claims) {
      error.message.append(separator).append(claim);
      separator = ", ";
    }
    if (scope.claims.empty()) error.message += " which is empty";
    if (!scope.claims.empty()) scope.claims_printed += error.message.size();
    errors.push_back(std::move(error));
  }
}

}  // namespace

bool IsHugePageResource(std::string_view name) { return name.starts_with("hugepages-"); }

bool IsOvercommitAllowed(std::string_view name) { return IsNative(name) && !IsHugePageResource(name); }

bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || IsHugePageResource(name);
}

api::Quantity QuantityOf(const Json& text) {
  std::string error;
  return api::Quantity::Parse(TextOf(text), &error).value_or(api::Quantity());
}

void CheckLimitedResource(std::string_view name, bool of_containers, const Path& path, FieldErrors& errors) {
  if (of_containers)
    CheckResourceName(name, ResourceOwner::kContainer, path, errors);
  else
    CheckKnownName(name, path, errors);
}

void CheckQuotaLimit(std::string_view name, const Json& limit, const Path& path, FieldErrors& errors) {
  const std::size_t before = errors.size();
  AddInvalid(IsQualifiedName(name), name, path, errors);
  const bool plain = name.find('/') == std::string_view::npos;
  if (errors.size() == before && plain && !IsStandard(name)) {
    errors.push_back(api::InvalidError(path, name, "must be a standard resource type or fully qualified"));
  }
  // Storage is a resource of volumes; quotas count requests.storage.
  if (plain && (!IsStandard(name) || name == "storage")) {
    errors.push_back(api::InvalidError(path, name, "must be a standard resource for quota"));
  }
  CheckAmount(name, QuantityOf(limit), path, errors);
}

void CheckResources(const Json& resources, ResourceOwner owner, const PodScope& scope, const Path& path,
                    FieldErrors& errors) {
  if (resources.empty()) return;
  bool computes = false;
  bool huge_pages = false;
  const Json& limits = ObjectAt(resources, "limits");
  for (const char* list : {"limits", "requests"}) {
    for (const auto& [name, text] : ObjectAt(resources, list).items()) {
      const Path here = path.Child(list).Key(name);
      const api::Quantity amount = QuantityOf(text);
      CheckResourceName(name, owner, here, errors);
      CheckAmount(name, amount, here, errors);
      if (list == std::string_view("requests")) CheckAgainstLimit(name, amount, limits, path, errors);
      CheckHugePages(name, amount, here, errors);
      huge_pages = huge_pages || IsHugePageResource(name);
      computes = computes || name == "cpu" || name == "memory";
    }
  }
  if (huge_pages && !computes) errors.push_back(api::ForbiddenError(path, "HugePages require cpu or memory"));
  CheckClaimNames(ListAt(resources, "claims"), scope, path.Child("claims"), errors);
}

}  // namespace terrarium::apiserver::pod_rules

namespace terrarium::apiserver {

void CheckContainerResourceName(std::string_view name, const api::Path& path, api::FieldErrors& errors) {
  pod_rules::CheckResourceName(name, pod_rules::ResourceOwner::kContainer, path, errors);
}

}  // namespace terrarium::apiserver
