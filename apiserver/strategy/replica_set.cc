#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/downscale_pod_picker.h"
#include "apiserver/strategy/internal/pod_template_rules.h"
#include "apiserver/strategy/internal/replicated_pods.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

class ReplicaSet final : public ReplicatedPods {
 protected:
  FieldErrors ValidateSpec(const Json& spec, const PodValidationOptions& options) const override {
    const Path path("spec");
    FieldErrors errors;
    Nonnegative(errors, spec, "replicas", path);
    Nonnegative(errors, spec, "minReadySeconds", path);
    SelectorAndTemplate(errors, spec, options, path);
    ValidateDownscalePodPicker(errors, spec, path);
    return errors;
  }
};

}  // namespace

const Strategy& ReplicaSetStrategy() {
  static const ReplicaSet strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
