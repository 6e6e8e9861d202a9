#include "apiserver/strategy/internal/autoscaler_rules.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/quantity.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/validation/formats.h"
#include "apiserver/validation/resource_names.h"

namespace terrarium::apiserver::strategy {
namespace {

constexpr std::int64_t kPeriodSecondsMax = 1800;
constexpr std::int64_t kStabilizationSecondsMax = 3600;

std::optional<api::Quantity> QuantityAt(const Json& object, std::string_view field) {
  std::string error;
  return Find(object, field) == nullptr ? std::nullopt
                                        : api::Quantity::Parse(StringAt(object, field), &error);
}

// Which apiVersions of a reference are refused.
struct VersionRule {
  bool any = false;          // none is
  bool empty_group = false;  // one without a group is not
};

std::string WhyVersionIsWrong(const Json& reference, const VersionRule& rule) {
  const std::string version(StringAt(reference, "apiVersion"));
  if (rule.any) return "";
  const auto slashes = std::count(version.begin(), version.end(), '/');
  if (slashes > 1) return "unexpected GroupVersion string: " + version;
  const bool has_group = slashes == 1 && version.front() != '/';
  return rule.empty_group || has_group ? "" : "apiVersion must specify API group";
}

void CheckReference(const Json& reference, const VersionRule& rule, const Path& path, FieldErrors& errors) {
  PathSegment(errors, reference, "kind", Presence::kRequired, path);
  PathSegment(errors, reference, "name", Presence::kRequired, path);
  if (const std::string why = WhyVersionIsWrong(reference, rule); !why.empty())
    errors.push_back(api::InvalidError(path.Child("apiVersion"), StringAt(reference, "apiVersion"), why));
}

void CheckMetricName(const Json& source, const Path& path, FieldErrors& errors) {
  const std::string_view name = StringAt(source, "metric", "name");
  const Path at = path.Child("metric").Child("name");
  if (name.empty()) errors.push_back(api::RequiredError(at, "must specify a metric name"));
  if (name.empty()) return;
  for (const std::string& why : IsValidPathSegmentName(name))
    errors.push_back(api::InvalidError(at, name, why));
}

void CheckTarget(const Json& source, const Path& path, FieldErrors& errors) {
  const Json& target = ObjectAt(source, "target");
  const std::string_view type = StringAt(target, "type");
  if (type.empty())
    errors.push_back(api::RequiredError(path.Child("type"), "must specify a metric target type"));
  if (type != "Utilization" && type != "Value" && type != "AverageValue")
    errors.push_back(
        api::InvalidError(path.Child("type"), type, "must be either Utilization, Value, or AverageValue"));
  for (const char* field : {"value", "averageValue"}) {
    const auto amount = QuantityAt(target, field);
    if (amount && amount->Sign() <= 0)
      errors.push_back(api::InvalidError(path.Child(field), StringAt(target, field), "must be positive"));
  }
  const std::int64_t utilization = IntAt(target, 1, "averageUtilization");
  if (utilization < 1)
    errors.push_back(
        api::InvalidError(path.Child("averageUtilization"), utilization, "must be greater than 0"));
}

// Of the two fields of a target at least one must be set.
bool HasNeither(const Json& source, const char* a, const char* b) {
  return Find(source, "target", a) == nullptr && Find(source, "target", b) == nullptr;
}
bool HasBoth(const Json& source, const char* a, const char* b) {
  return Find(source, "target", a) != nullptr && Find(source, "target", b) != nullptr;
}

void CheckObject(const Json& source, const VersionRule& rule, const Path& path, FieldErrors& errors) {
  CheckReference(ObjectAt(source, "describedObject"), rule, path.Child("describedObject"), errors);
  CheckMetricName(source, path, errors);
  const Path target = path.Child("target");
  CheckTarget(source, target, errors);
  if (HasNeither(source, "value", "averageValue"))
    errors.push_back(
        api::RequiredError(target.Child("averageValue"), "must set either a target value or averageValue"));
}

void CheckExternal(const Json& source, const Path& path, FieldErrors& errors) {
  CheckMetricName(source, path, errors);
  const Path target = path.Child("target");
  CheckTarget(source, target, errors);
  if (HasNeither(source, "value", "averageValue"))
    errors.push_back(api::RequiredError(target.Child("averageValue"),
                                        "must set either a target value for metric or a per-pod target"));
  if (HasBoth(source, "value", "averageValue"))
    errors.push_back(api::ForbiddenError(target.Child("value"),
                                         "may not set both a target value for metric and a per-pod target"));
}

void CheckPods(const Json& source, const Path& path, FieldErrors& errors) {
  CheckMetricName(source, path, errors);
  const Path target = path.Child("target");
  CheckTarget(source, target, errors);
  if (Find(source, "target", "averageValue") == nullptr)
    errors.push_back(
        api::RequiredError(target.Child("averageValue"), "must specify a positive target averageValue"));
}

void CheckResourceTarget(const Json& source, const Path& target, FieldErrors& errors) {
  CheckTarget(source, target, errors);
  if (HasNeither(source, "averageUtilization", "averageValue"))
    errors.push_back(api::RequiredError(target.Child("averageUtilization"),
                                        "must set either a target raw value or a target utilization"));
  if (HasBoth(source, "averageUtilization", "averageValue"))
    errors.push_back(api::ForbiddenError(target.Child("averageValue"),
                                         "may not set both a target raw value and a target utilization"));
}

void CheckResource(const Json& source, const Path& path, FieldErrors& errors) {
  if (StringAt(source, "name").empty())
    errors.push_back(api::RequiredError(path.Child("name"), "must specify a resource name"));
  CheckResourceTarget(source, path.Child("target"), errors);
}

void CheckContainerResource(const Json& source, const Path& path, FieldErrors& errors) {
  const std::string_view name = StringAt(source, "name");
  if (name.empty())
    errors.push_back(api::RequiredError(path.Child("name"), "must specify a resource name"));
  else
    CheckContainerResourceName(name, path.Child("name"), errors);
  const std::string_view container = StringAt(source, "container");
  if (container.empty())
    errors.push_back(api::RequiredError(path.Child("container"), "must specify a container"));
  else
    for (const std::string& why : IsDns1123Label(container))
      errors.push_back(api::InvalidError(path.Child("container"), container, why));
  CheckResourceTarget(source, path.Child("target"), errors);
}

struct SourceKind {
  std::string_view type;
  const char* field;
};
// In the order in which Kubernetes looks for them.
constexpr SourceKind kSources[] = {{"Object", "object"},
                                   {"External", "external"},
                                   {"Pods", "pods"},
                                   {"Resource", "resource"},
                                   {"ContainerResource", "containerResource"}};

void CheckSource(const Json& metric, std::string_view field, const VersionRule& rule, const Path& path,
                 FieldErrors& errors) {
  const Json& source = ObjectAt(metric, field);
  const Path at = path.Child(field);
  if (field == "object") return CheckObject(source, rule, at, errors);
  if (field == "external") return CheckExternal(source, at, errors);
  if (field == "pods") return CheckPods(source, at, errors);
  if (field == "resource") return CheckResource(source, at, errors);
  CheckContainerResource(source, at, errors);
}

void CheckMetric(const Json& metric, const VersionRule& rule, const Path& path, FieldErrors& errors) {
  const std::string_view type = StringAt(metric, "type");
  const auto unsupported = [&] {
    errors.push_back(api::NotSupportedError(path.Child("type"), type,
                                            {"ContainerResource", "External", "Object", "Pods", "Resource"}));
  };
  const auto kind = std::find_if(std::begin(kSources), std::end(kSources),
                                 [&](const SourceKind& each) { return each.type == type; });
  const bool known = kind != std::end(kSources);
  if (type.empty())
    errors.push_back(api::RequiredError(path.Child("type"), "must specify a metric source type"));
  if (!known) unsupported();
  std::vector<std::string_view> present;
  for (const SourceKind& each : kSources)
    if (Find(metric, each.field) != nullptr) present.push_back(each.field);
  if (!present.empty()) CheckSource(metric, present.front(), rule, path, errors);
  // As in Kubernetes, an unknown type is reported again.
  if (!known)
    unsupported();
  else if (Find(metric, kind->field) == nullptr)
    errors.push_back(
        api::RequiredError(path.Child(kind->field), "must populate information for the given metric source"));
  if (present.size() <= 1) return;
  for (std::string_view field : present)
    if (!known || field != kind->field)
      errors.push_back(api::ForbiddenError(path.Child(field), "must populate the given metric source only"));
}

void CheckMetrics(const Json& spec, const VersionRule& rule, FieldErrors& errors) {
  const Path path = Path("spec").Child("metrics");
  const Json& metrics = ListAt(spec, "metrics");
  bool object_or_external = false;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    CheckMetric(metrics[i], rule, path.Index(i), errors);
    const std::string_view type = StringAt(metrics[i], "type");
    object_or_external |= type == "Object" || type == "External";
  }
  if (IntAt(spec, 1, "minReplicas") == 0 && !object_or_external)
    errors.push_back(api::ForbiddenError(
        path, "must specify at least one Object or External metric to support scaling to zero replicas"));
}

void CheckPolicy(const Json& policy, const Path& path, FieldErrors& errors) {
  OneOf(errors, path.Child("type"), StringAt(policy, "type"), {"Percent", "Pods"});
  const std::int64_t value = IntAt(policy, 0, "value");
  const std::int64_t period = IntAt(policy, 0, "periodSeconds");
  if (value <= 0)
    errors.push_back(api::InvalidError(path.Child("value"), value, "must be greater than zero"));
  if (period <= 0)
    errors.push_back(api::InvalidError(path.Child("periodSeconds"), period, "must be greater than zero"));
  if (period > kPeriodSecondsMax)
    errors.push_back(api::InvalidError(path.Child("periodSeconds"), period,
                                       "must be less than or equal to " + std::to_string(kPeriodSecondsMax)));
}

void CheckRules(const Json& rules, const Path& path, FieldErrors& errors) {
  const std::int64_t window = IntAt(rules, 0, "stabilizationWindowSeconds");
  const Path window_path = path.Child("stabilizationWindowSeconds");
  if (window < 0)
    errors.push_back(api::InvalidError(window_path, window, "must be greater than or equal to zero"));
  if (window > kStabilizationSecondsMax)
    errors.push_back(api::InvalidError(
        window_path, window, "must be less than or equal to " + std::to_string(kStabilizationSecondsMax)));
  if (Find(rules, "selectPolicy") != nullptr)
    OneOf(errors, path.Child("selectPolicy"), StringAt(rules, "selectPolicy"), {"Disabled", "Max", "Min"});
  const Json& policies = ListAt(rules, "policies");
  if (policies.empty())
    errors.push_back(api::RequiredError(path.Child("policies"), "must specify at least one Policy"));
  for (std::size_t i = 0; i < policies.size(); ++i)
    CheckPolicy(policies[i], path.Child("policies").Index(i), errors);
  const auto tolerance = QuantityAt(rules, "tolerance");
  if (tolerance && tolerance->Sign() < 0)
    errors.push_back(api::InvalidError(path.Child("tolerance"), StringAt(rules, "tolerance"),
                                       "must be greater than or equal to 0"));
}

VersionRule RuleOfTarget(const Json& spec, const Json* old) {
  const Json& target = ObjectAt(spec, "scaleTargetRef");
  const Json& before = old == nullptr ? api::EmptyObject() : ObjectAt(*old, "scaleTargetRef");
  const bool same = old != nullptr && StringAt(before, "apiVersion") == StringAt(target, "apiVersion") &&
                    StringAt(before, "kind") == StringAt(target, "kind");
  return {.any = same, .empty_group = StringAt(target, "kind") == "ReplicationController"};
}

// Objects may be in the core group. An update of a spec with a wrong version may keep it.
VersionRule RuleOfObjects(const Json* old) {
  VersionRule rule{.empty_group = true};
  if (old == nullptr) return rule;
  for (const Json& metric : ListAt(*old, "metrics"))
    if (Find(metric, "object") != nullptr &&
        !WhyVersionIsWrong(ObjectAt(metric, "object", "describedObject"), {.empty_group = true}).empty())
      rule.any = true;
  return rule;
}

}  // namespace

void CheckAutoscalerSpec(const Json& spec, const Json* old, FieldErrors& errors) {
  const Path path("spec");
  CheckReference(ObjectAt(spec, "scaleTargetRef"), RuleOfTarget(spec, old), path.Child("scaleTargetRef"),
                 errors);
  CheckMetrics(spec, RuleOfObjects(old), errors);
  for (const char* direction : {"scaleUp", "scaleDown"})
    if (const Json* rules = Find(spec, "behavior", direction))
      CheckRules(*rules, path.Child("behavior").Child(direction), errors);
}

}  // namespace terrarium::apiserver::strategy
