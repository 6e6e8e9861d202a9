#pragma once

// The strategy shared by the kinds that keep a number of pods from a template running: Deployment, ReplicaSet
// and ReplicationController.

#include <string>
#include <vector>

#include "apiserver/strategy.h"
#include "apiserver/validation/pod_template.h"

namespace terrarium::apiserver::strategy {

class ReplicatedPods : public Strategy {
 public:
  // The template's defaults.
  void Default(Json& object) const override;
  FieldErrors Validate(const StrategyContext& context, const Json& object) const final;
  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object, const Json& old) const final;
  // The counters of ReplicaSet and ReplicationController.
  FieldErrors ValidateStatusUpdate(const StrategyContext& context, const Json& object,
                                   const Json& old) const override;
  std::vector<std::string> Warnings(const StrategyContext& context, const Json& object,
                                    const Json* old) const final;

 protected:
  virtual FieldErrors ValidateSpec(const Json& spec, const PodValidationOptions& options) const = 0;
  virtual bool HasImmutableSelector() const { return true; }
};

}  // namespace terrarium::apiserver::strategy
