#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/downscale_pod_picker.h"
#include "apiserver/strategy/internal/template_owner.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

FieldErrors Spec(const Json& spec, const PodValidationOptions& options) {
  const Path path("spec");
  FieldErrors errors;
  Nonnegative(errors, spec, "replicas", path);
  Nonnegative(errors, spec, "minReadySeconds", path);
  // The word "deployment" is Kubernetes' own, for ReplicaSets too.
  RequiredSelector(errors, spec, "empty selector is invalid for deployment", path);
  SelectedTemplate(errors, spec, {.kind = "ReplicaSet", .unreadable_message = "invalid label selector"},
                   options, path);
  ValidateDownscalePodPicker(errors, spec, path);
  return errors;
}

class ReplicaSet final : public Strategy {
 public:
  void Default(Json& object) const override {
    Json& spec = ObjectField(object, "spec");
    DefaultTemplate(spec);
  }

  FieldErrors Validate(const StrategyContext& context, const Json& object) const override {
    FieldErrors errors = NewMetadata(object, true, NameRule());
    api::Append(errors, Spec(ObjectAt(object, "spec"), TemplateOptions(context, nullptr)));
    return errors;
  }

  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    api::Append(errors, Spec(ObjectAt(object, "spec"), TemplateOptions(context, &old)));
    Immutable(errors, ObjectAt(object, "spec"), ObjectAt(old, "spec"), "selector", Path("spec"));
    return errors;
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    ReplicaCounters(errors, ObjectAt(object, "status"), Path("status"));
    return errors;
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    std::vector<std::string> warnings;
    if (old == nullptr) warnings = PodNameWarnings(object);
    for (std::string& text : TemplateWarnings(*this, object, old)) warnings.push_back(std::move(text));
    return warnings;
  }
};

}  // namespace

const Strategy& ReplicaSetStrategy() {
  static const ReplicaSet strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
