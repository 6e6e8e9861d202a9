#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/downscale_pod_picker.h"
#include "apiserver/strategy/internal/int_or_percent.h"
#include "apiserver/strategy/internal/pod_template_rules.h"
#include "apiserver/strategy/internal/replicated_pods.h"
#include "apiserver/strategy/internal/update_strategy.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

void RollingUpdate(FieldErrors& errors, const Json& rolling, const Path& path) {
  const Json* unavailable = Find(rolling, "maxUnavailable");
  const Json* surge = Find(rolling, "maxSurge");
  PositiveIntOrPercent(errors, unavailable, path.Child("maxUnavailable"));
  PositiveIntOrPercent(errors, surge, path.Child("maxSurge"));
  if (IntOrPercentValue(unavailable) == 0 && IntOrPercentValue(surge) == 0) {
    errors.push_back(api::InvalidError(path.Child("maxUnavailable"),
                                       unavailable == nullptr ? Json(0) : *unavailable,
                                       "may not be 0 when `maxSurge` is 0"));
  }
  AtMostAllPercent(errors, unavailable, path.Child("maxUnavailable"));
}

void RolloutStrategy(FieldErrors& errors, const Json& strategy, const Path& path) {
  const std::string_view type = StringAt(strategy, "type");
  const Json* rolling = Find(strategy, "rollingUpdate");
  if (type == "Recreate") {
    if (rolling != nullptr) {
      errors.push_back(api::ForbiddenError(path.Child("rollingUpdate"),
                                           "may not be specified when strategy `type` is 'Recreate'"));
    }
  } else if (type == "RollingUpdate") {
    if (rolling == nullptr) {
      errors.push_back(
          api::RequiredError(path.Child("rollingUpdate"), "this should be defaulted and never be nil"));
    } else {
      RollingUpdate(errors, *rolling, path.Child("rollingUpdate"));
    }
  } else {
    errors.push_back(
        UnknownUpdateStrategy(path, strategy, {"maxUnavailable", "maxSurge"}, {"Recreate", "RollingUpdate"}));
  }
}

FieldErrors Spec(const Json& spec, const PodValidationOptions& options) {
  const Path path("spec");
  FieldErrors errors;
  Nonnegative(errors, spec, "replicas", path);
  SelectorAndTemplate(errors, spec, options, path);
  RolloutStrategy(errors, ObjectAt(spec, "strategy"), path.Child("strategy"));
  Nonnegative(errors, spec, "minReadySeconds", path);
  Nonnegative(errors, spec, "revisionHistoryLimit", path);
  if (const Json* deadline = Find(spec, "progressDeadlineSeconds")) {
    Nonnegative(errors, spec, "progressDeadlineSeconds", path);
    if (deadline->get<std::int64_t>() <= IntAt(spec, 0, "minReadySeconds")) {
      errors.push_back(api::InvalidError(path.Child("progressDeadlineSeconds"), *deadline,
                                         "must be greater than minReadySeconds"));
    }
  }
  if (Find(spec, "podReplacementPolicy") != nullptr) {
    OneOf(errors, path.Child("podReplacementPolicy"), StringAt(spec, "podReplacementPolicy"),
          {"TerminationComplete", "TerminationStarted"});
  }
  ValidateDownscalePodPicker(errors, spec, path);
  return errors;
}

class Deployment final : public ReplicatedPods {
 public:
  void Default(Json& object) const override {
    ReplicatedPods::Default(object);
    Json& strategy = ObjectField(object["spec"], "strategy");
    if (StringAt(strategy, "type").empty()) strategy["type"] = "RollingUpdate";
    if (StringAt(strategy, "type") != "RollingUpdate") return;
    Json& rolling = ObjectField(strategy, "rollingUpdate");
    if (Find(rolling, "maxUnavailable") == nullptr) rolling["maxUnavailable"] = "25%";
    if (Find(rolling, "maxSurge") == nullptr) rolling["maxSurge"] = "25%";
  }

  // A Deployment's labels change with its spec only; other metadata may come with the status.
  void PrepareForStatusUpdate(const StrategyContext& /*context*/, Json& object,
                              const Json& old) const override {
    if (const Json* labels = Find(old, "metadata", "labels"))
      object["metadata"]["labels"] = *labels;
    else
      object["metadata"].erase("labels");
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& old) const override {
    const Path path("status");
    const Json& status = ObjectAt(object, "status");
    FieldErrors errors = ChangedMetadata(object, old);
    for (const char* key :
         {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
          "unavailableReplicas", "terminatingReplicas", "collisionCount"}) {
      Nonnegative(errors, status, key, path);
    }
    for (const char* key : {"updatedReplicas", "readyReplicas", "availableReplicas"}) {
      NotGreater(errors, status, key, "replicas", "cannot be greater than status.replicas", path);
    }
    NotGreater(errors, status, "availableReplicas", "readyReplicas", "cannot be greater than readyReplicas",
               path);
    CollisionCountKept(errors, object, old);
    return errors;
  }

  // Annotations count as well, because the controller copies them to the ReplicaSets.
  bool BumpsGeneration(const Json& object, const Json& old) const override {
    return Strategy::BumpsGeneration(object, old) ||
           ObjectAt(object, "metadata", "annotations") != ObjectAt(old, "metadata", "annotations");
  }

 protected:
  FieldErrors ValidateSpec(const Json& spec, const PodValidationOptions& options) const override {
    return Spec(spec, options);
  }
};

}  // namespace

const Strategy& DeploymentStrategy() {
  static const Deployment strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
