#include "apiserver/strategy/internal/replicated_pods.h"

#include <utility>

#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/pod_template_rules.h"

namespace terrarium::apiserver::strategy {

void ReplicatedPods::Default(Json& object) const { DefaultTemplate(ObjectField(object, "spec")); }

FieldErrors ReplicatedPods::Validate(const StrategyContext& context, const Json& object) const {
  FieldErrors errors = NewMetadata(object, true, NameRule());
  api::Append(errors, ValidateSpec(ObjectAt(object, "spec"), TemplateOptions(context, nullptr)));
  return errors;
}

FieldErrors ReplicatedPods::ValidateUpdate(const StrategyContext& context, const Json& object,
                                           const Json& old) const {
  FieldErrors errors = ChangedMetadata(object, old);
  api::Append(errors, ValidateSpec(ObjectAt(object, "spec"), TemplateOptions(context, &old)));
  if (HasImmutableSelector())
    Immutable(errors, ObjectAt(object, "spec"), ObjectAt(old, "spec"), "selector", Path("spec"));
  return errors;
}

FieldErrors ReplicatedPods::ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                                 const Json& old) const {
  FieldErrors errors = ChangedMetadata(object, old);
  ReplicaCounters(errors, ObjectAt(object, "status"), Path("status"));
  return errors;
}

std::vector<std::string> ReplicatedPods::Warnings(const StrategyContext& /*context*/, const Json& object,
                                                  const Json* old) const {
  std::vector<std::string> warnings;
  if (old == nullptr) warnings = PodNameWarnings(object);
  for (std::string& text : TemplateWarnings(*this, object, old)) warnings.push_back(std::move(text));
  return warnings;
}

}  // namespace terrarium::apiserver::strategy
