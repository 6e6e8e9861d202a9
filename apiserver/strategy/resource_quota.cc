#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "api/core_v1/resource_list.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/update_strategy.h"
#include "apiserver/validation/shared_fields.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

using Scopes = std::set<std::string_view>;

constexpr std::string_view kOnlyExists =
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
    "ResourceQuotaScopeCrossNamespacePodAffinity";

bool IsPodScope(std::string_view scope) {
  static const Scopes kScopes = {"Terminating",   "NotTerminating", "BestEffort",
                                 "NotBestEffort", "PriorityClass",  "CrossNamespacePodAffinity"};
  return kScopes.contains(scope);
}

bool IsScope(std::string_view scope) { return IsPodScope(scope) || scope == "VolumeAttributesClass"; }

// Names that a scope may exclude: names without a domain.
bool IsPlain(std::string_view resource) { return resource.find('/') == std::string_view::npos; }

bool IsValidFor(std::string_view scope, std::string_view resource) {
  static const Scopes kCompute = {"cpu",  "limits.cpu",   "limits.memory",  "memory",
                                  "pods", "requests.cpu", "requests.memory"};
  if (scope == "BestEffort") return resource == "pods";
  if (IsPodScope(scope)) return kCompute.contains(resource);
  if (scope == "VolumeAttributesClass")
    return resource == "persistentvolumeclaims" || resource == "requests.storage";
  return true;
}

// How many resources of a quota a scope does not go with.
class ResourcesOutside {
 public:
  explicit ResourcesOutside(const Json& spec) : hard_(ObjectAt(spec, "hard")) {}
  int Count(std::string_view scope) {
    auto [it, is_new] = counts_.emplace(scope, 0);
    if (!is_new) return it->second;
    for (const auto& [resource, limit] : hard_.items())
      if (IsPlain(resource) && !IsValidFor(scope, resource)) ++it->second;
    return it->second;
  }

 private:
  const Json& hard_;
  std::map<std::string_view, int> counts_;
};

// Errors that each print a whole list.
class RepeatedErrors {
 public:
  explicit RepeatedErrors(FieldErrors& errors) : errors_(errors) {}
  bool full() const { return printed_ >= api::kRepeatedTextMax; }
  template <typename Make>
  void Add(Make make) {
    if (full()) return;
    errors_.push_back(make());
    printed_ += errors_.back().message.size();
  }

 private:
  FieldErrors& errors_;
  std::size_t printed_ = 0;
};

bool Conflict(const Scopes& scopes) {
  return (scopes.contains("BestEffort") && scopes.contains("NotBestEffort")) ||
         (scopes.contains("Terminating") && scopes.contains("NotTerminating"));
}

void CheckScopes(const Json& spec, FieldErrors& errors) {
  const Path path("spec.scopes");
  const Json& list = ListAt(spec, "scopes");
  Scopes scopes;
  ResourcesOutside outside(spec);
  RepeatedErrors repeated(errors);
  for (const Json& item : list) {
    std::string_view scope = item.get_ref<const std::string&>();
    if (!IsScope(scope)) repeated.Add([&] { return api::InvalidError(path, list, "unsupported scope"); });
    for (int n = outside.Count(scope); n > 0 && !repeated.full(); --n)
      repeated.Add([&] { return api::InvalidError(path, list, "unsupported scope applied to resource"); });
    scopes.insert(scope);
  }
  if (Conflict(scopes)) errors.push_back(api::InvalidError(path, list, "conflicting scopes"));
}

// Kubernetes prints its own struct, with Go's field names in declaration order.
std::string SelectorText(const Json& selector) {
  std::string text = "{\"MatchExpressions\":[";
  for (const Json& requirement : ListAt(selector, "matchExpressions")) {
    const Json* values = Find(requirement, "values");
    if (text.back() == '}') text += ',';
    text += "{\"ScopeName\":" + api::Quote(StringAt(requirement, "scopeName"));
    text += ",\"Operator\":" + api::Quote(StringAt(requirement, "operator"));
    text += ",\"Values\":" + (values == nullptr ? "null" : values->dump()) + "}";
  }
  return text + "]}";
}

void CheckOperator(const Json& requirement, const Path& path, FieldErrors& errors) {
  std::string_view op = StringAt(requirement, "operator");
  std::string_view scope = StringAt(requirement, "scopeName");
  if (IsPodScope(scope) && scope != "PriorityClass" && op != "Exists")
    errors.push_back(api::InvalidError(path.Child("operator"), op, kOnlyExists));
  const Json& values = ListAt(requirement, "values");
  if (op == "In" || op == "NotIn") {
    if (values.empty())
      errors.push_back(api::RequiredError(
          path.Child("values"),
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty())
      errors.push_back(api::InvalidError(
          path.Child("values"), values,
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"));
  } else {
    errors.push_back(api::InvalidError(path.Child("operator"), op, "not a valid selector operator"));
  }
}

void CheckScopeSelector(const Json& spec, FieldErrors& errors) {
  const Path path("spec.scopeSelector.matchExpressions");
  const Json& selector = ObjectAt(spec, "scopeSelector");
  Scopes scopes;
  ResourcesOutside outside(spec);
  RepeatedErrors repeated(errors);
  for (const Json& requirement : ListAt(selector, "matchExpressions")) {
    std::string_view scope = StringAt(requirement, "scopeName");
    if (!IsScope(scope))
      errors.push_back(api::InvalidError(path.Child("scopeName"), scope, "unsupported scope"));
    for (int n = outside.Count(scope); n > 0 && !repeated.full(); --n)
      repeated.Add(
          [&] { return InvalidText(path, SelectorText(selector), "unsupported scope applied to resource"); });
    CheckOperator(requirement, path, errors);
    scopes.insert(scope);
  }
  // The value that Kubernetes shows is that of spec.scopes.
  const Json* shown = Find(spec, "scopes");
  if (Conflict(scopes))
    errors.push_back(api::InvalidError(path, shown == nullptr ? Json() : *shown, "conflicting scopes"));
}

void CheckLimits(const Json& limits, const Path& path, FieldErrors& errors) {
  for (const auto& [name, limit] : limits.items())
    pod_rules::CheckQuotaLimit(name, limit, path.Key(name), errors);
}

void CheckSpec(const Json& spec, FieldErrors& errors) {
  CheckLimits(ObjectAt(spec, "hard"), Path("spec.hard"), errors);
  CheckScopes(spec, errors);
  CheckScopeSelector(spec, errors);
}

Scopes ScopesOf(const Json& object) {
  Scopes scopes;
  for (const Json& scope : ListAt(object, "spec", "scopes"))
    scopes.insert(scope.get_ref<const std::string&>());
  return scopes;
}

// A request that is above its limit can never be used up.
std::vector<std::string> RequestsAboveLimits(const Json& hard) {
  std::vector<std::string> warnings;
  const api::ResourceList limits = api::ReadResourceList(hard);
  for (const std::string name : {"cpu", "memory", "storage", "ephemeral-storage"}) {
    auto request = limits.find("requests." + name);
    if (request == limits.end() && (name == "cpu" || name == "memory")) request = limits.find(name);
    auto limit = limits.find("limits." + name);
    if (request == limits.end() || limit == limits.end() || request->second <= limit->second) continue;
    warnings.push_back("ResourceQuota " + request->first + " (" + request->second.ToString() +
                       ") should be less than " + limit->first + " (" + limit->second.ToString() + ")");
  }
  return warnings;
}

class ResourceQuota final : public Strategy {
 public:
  bool HasGeneration() const override { return false; }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    FieldErrors errors = NewMetadata(object, true, NameRule());
    CheckSpec(ObjectAt(object, "spec"), errors);
    return errors;
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    CheckSpec(ObjectAt(object, "spec"), errors);
    if (ScopesOf(object) != ScopesOf(old)) {
      const Json* scopes = Find(object, "spec", "scopes");
      errors.push_back(
          api::InvalidError(Path("spec.scopes"), scopes == nullptr ? Json() : *scopes, "field is immutable"));
    }
    return errors;
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    CheckLimits(ObjectAt(object, "status", "hard"), Path("status.hard"), errors);
    CheckLimits(ObjectAt(object, "status", "used"), Path("status.used"), errors);
    return errors;
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    if (old != nullptr) return {};
    return RequestsAboveLimits(ObjectAt(object, "spec", "hard"));
  }
};

}  // namespace

const Strategy& ResourceQuotaStrategy() {
  static const ResourceQuota strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
