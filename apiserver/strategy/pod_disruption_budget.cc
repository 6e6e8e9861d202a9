#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/int_or_percent.h"
#include "apiserver/strategy/internal/update_strategy.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

std::string Text(const Json& spec, std::string_view key) {
  const Json* value = Find(spec, key);
  return value == nullptr ? "null" : value->dump();
}

// Kubernetes prints its own struct, with Go's field names in declaration order.
std::string SpecText(const Json& spec) {
  return "{\"MinAvailable\":" + Text(spec, "minAvailable") + ",\"Selector\":" + Text(spec, "selector") +
         ",\"MaxUnavailable\":" + Text(spec, "maxUnavailable") +
         ",\"UnhealthyPodEvictionPolicy\":" + Text(spec, "unhealthyPodEvictionPolicy") + "}";
}

FieldErrors Spec(const Json& spec, const LabelSelectorOptions& options) {
  const Path path("spec");
  FieldErrors errors;
  const Json* min_available = Find(spec, "minAvailable");
  const Json* max_unavailable = Find(spec, "maxUnavailable");
  if (min_available != nullptr && max_unavailable != nullptr) {
    errors.push_back(InvalidText(path, SpecText(spec), "minAvailable and maxUnavailable cannot be both set"));
  }
  PositiveIntOrPercent(errors, min_available, path.Child("minAvailable"));
  AtMostAllPercent(errors, min_available, path.Child("minAvailable"));
  PositiveIntOrPercent(errors, max_unavailable, path.Child("maxUnavailable"));
  AtMostAllPercent(errors, max_unavailable, path.Child("maxUnavailable"));
  if (const Json* selector = Find(spec, "selector")) {
    api::Append(errors, ValidateLabelSelector(*selector, options, path.Child("selector")));
  }
  if (Find(spec, "unhealthyPodEvictionPolicy") != nullptr) {
    OneOf(errors, path.Child("unhealthyPodEvictionPolicy"), StringAt(spec, "unhealthyPodEvictionPolicy"),
          {"AlwaysAllow", "IfHealthyBudget"});
  }
  return errors;
}

// Metadata is left to the checks that every kind gets from the verbs, as in Kubernetes.
class PodDisruptionBudget final : public Strategy {
 public:
  bool AllowUnconditionalUpdate() const override { return false; }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    return Spec(ObjectAt(object, "spec"), {});
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    // A selector stored by laxer rules may stay.
    const bool lax = !ValidateLabelSelector(ObjectAt(old, "spec", "selector"), {}, Path()).empty();
    return Spec(ObjectAt(object, "spec"), {.allow_invalid_label_values = lax});
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& /*old*/) const override {
    const Path path("status");
    FieldErrors errors;
    Conditions(errors, ListAt(object, "status", "conditions"), path.Child("conditions"));
    for (const char* key : {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"}) {
      Nonnegative(errors, ObjectAt(object, "status"), key, path);
    }
    return errors;
  }
};

}  // namespace

const Strategy& PodDisruptionBudgetStrategy() {
  static const PodDisruptionBudget strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
