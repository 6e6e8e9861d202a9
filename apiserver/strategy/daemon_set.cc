#include "api/selector/label_selector.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/int_or_percent.h"
#include "apiserver/strategy/internal/pod_template_rules.h"
#include "apiserver/strategy/internal/update_strategy.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

// apps/v1 keeps spec.templateGeneration of older versions here; clients cannot set it.
constexpr const char* kTemplateGeneration = "deprecated.daemonset.template.generation";

std::int64_t TemplateGeneration(const Json& object) {
  return ParseInt(StringAt(object, "metadata", "annotations", kTemplateGeneration)).value_or(0);
}

void SetTemplateGeneration(Json& object, std::int64_t generation) {
  ObjectField(ObjectField(object, "metadata"), "annotations")[kTemplateGeneration] =
      std::to_string(generation);
}

void RollingUpdate(FieldErrors& errors, const Json& rolling, const Path& path) {
  const Json* unavailable = Find(rolling, "maxUnavailable");
  const Json* surge = Find(rolling, "maxSurge");
  PositiveIntOrPercent(errors, unavailable, path.Child("maxUnavailable"));
  PositiveIntOrPercent(errors, surge, path.Child("maxSurge"));
  AtMostAllPercent(errors, unavailable, path.Child("maxUnavailable"));
  AtMostAllPercent(errors, surge, path.Child("maxSurge"));
  const bool has_unavailable = IntOrPercentValue(unavailable) != 0;
  const bool has_surge = IntOrPercentValue(surge) != 0;
  if (has_unavailable && has_surge) {
    errors.push_back(
        api::InvalidError(path.Child("maxSurge"), *surge, "may not be set when maxUnavailable is non-zero"));
  } else if (!has_unavailable && !has_surge) {
    errors.push_back(api::RequiredError(path.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"));
  }
}

void UpdateStrategy(FieldErrors& errors, const Json& strategy, const Path& path) {
  const std::string_view type = StringAt(strategy, "type");
  if (type == "OnDelete") return;
  if (type != "RollingUpdate") {
    errors.push_back(
        UnknownUpdateStrategy(path, strategy, {"maxUnavailable", "maxSurge"}, {"RollingUpdate", "OnDelete"}));
  } else if (const Json* rolling = Find(strategy, "rollingUpdate")) {
    RollingUpdate(errors, *rolling, path.Child("rollingUpdate"));
  } else {
    errors.push_back(api::RequiredError(path.Child("rollingUpdate")));
  }
}

FieldErrors Spec(const Json& spec, const LabelSelectorOptions& options,
                 const PodValidationOptions& pod_options) {
  const Path path("spec");
  const Path template_path = path.Child("template");
  const Json& pod_template = ObjectAt(spec, "template");
  const Json* selector_document = Find(spec, "selector");
  FieldErrors errors;
  if (selector_document != nullptr) {
    api::Append(errors, ValidateLabelSelector(*selector_document, options, path.Child("selector")));
  }
  const auto selector = api::LabelSelector::FromDocument(selector_document);
  if (selector && !selector->Matches(ObjectAt(pod_template, "metadata", "labels"))) {
    errors.push_back(LabelsMismatch(pod_template, template_path));
  }
  if (selector && selector->selects_everything()) {
    errors.push_back(api::InvalidError(path.Child("selector"), *selector_document,
                                       "empty selector is invalid for daemonset"));
  }
  api::Append(errors, ValidatePodTemplateSpec(pod_template, pod_options, template_path));
  RequireRestartAlways(errors, pod_template, "DaemonSet", template_path);
  Nonnegative(errors, spec, "minReadySeconds", path);
  UpdateStrategy(errors, ObjectAt(spec, "updateStrategy"), path.Child("updateStrategy"));
  Nonnegative(errors, spec, "revisionHistoryLimit", path);
  return errors;
}

class DaemonSet final : public Strategy {
 public:
  void Default(Json& object) const override {
    if (Find(object, "metadata", "annotations", kTemplateGeneration) == nullptr)
      SetTemplateGeneration(object, 0);
    Json& spec = ObjectField(object, "spec");
    DefaultTemplate(spec);
    Json& strategy = ObjectField(spec, "updateStrategy");
    if (StringAt(strategy, "type").empty()) strategy["type"] = "RollingUpdate";
    if (StringAt(strategy, "type") != "RollingUpdate") return;
    Json& rolling = ObjectField(strategy, "rollingUpdate");
    if (Find(rolling, "maxUnavailable") == nullptr) rolling["maxUnavailable"] = 1;
    if (Find(rolling, "maxSurge") == nullptr) rolling["maxSurge"] = 0;
  }

  void PrepareForCreate(const StrategyContext& /*context*/, Json& object) const override {
    SetTemplateGeneration(object, std::max<std::int64_t>(TemplateGeneration(object), 1));
  }

  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object, const Json& old) const override {
    const bool changed = ObjectAt(object, "spec", "template") != ObjectAt(old, "spec", "template");
    SetTemplateGeneration(object, TemplateGeneration(old) + (changed ? 1 : 0));
  }

  void PrepareForStatusUpdate(const StrategyContext& /*context*/, Json& object,
                              const Json& old) const override {
    SetTemplateGeneration(object, TemplateGeneration(old));
  }

  FieldErrors Validate(const StrategyContext& context, const Json& object) const override {
    FieldErrors errors = NewMetadata(object, true, NameRule());
    api::Append(errors, Spec(ObjectAt(object, "spec"), {}, TemplateOptions(context, nullptr)));
    return errors;
  }

  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                             const Json& old) const override {
    const Json& spec = ObjectAt(object, "spec");
    const Json& old_spec = ObjectAt(old, "spec");
    FieldErrors errors = ChangedMetadata(object, old);
    Immutable(errors, spec, old_spec, "selector", Path("spec"));
    // A selector stored by laxer rules may stay.
    const bool lax = !ValidateLabelSelector(ObjectAt(old_spec, "selector"), {}, Path()).empty();
    api::Append(errors, Spec(spec, {.allow_invalid_label_values = lax}, TemplateOptions(context, &old)));
    return errors;
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    for (const char* key : {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled",
                            "numberReady", "observedGeneration", "updatedNumberScheduled", "numberAvailable",
                            "numberUnavailable", "collisionCount"}) {
      Nonnegative(errors, ObjectAt(object, "status"), key, Path("status"));
    }
    CollisionCountKept(errors, object, old);
    return errors;
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    if (old != nullptr && TemplateGeneration(object) == TemplateGeneration(*old)) return {};
    return PodSpecWarnings(ObjectAt(object, "spec", "template"), Path("spec").Child("template"));
  }
};

}  // namespace

const Strategy& DaemonSetStrategy() {
  static const DaemonSet strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
