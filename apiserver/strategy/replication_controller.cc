#include "api/selector/label_selector.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/pod_template_rules.h"
#include "apiserver/strategy/internal/replicated_pods.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

FieldErrors Spec(const Json& spec, const PodValidationOptions& options) {
  const Path path("spec");
  FieldErrors errors;
  Nonnegative(errors, spec, "minReadySeconds", path);
  const Json& selector = ObjectAt(spec, "selector");
  if (selector.empty()) errors.push_back(api::RequiredError(path.Child("selector")));
  if (Find(spec, "replicas") == nullptr) {
    errors.push_back(api::RequiredError(path.Child("replicas")));
  } else {
    Nonnegative(errors, spec, "replicas", path);
  }
  const Json* pod_template = Find(spec, "template");
  const Path template_path = path.Child("template");
  if (pod_template == nullptr) {
    errors.push_back(api::RequiredError(template_path));
    return errors;
  }
  if (!api::LabelSelector::FromMap(selector).Matches(ObjectAt(*pod_template, "metadata", "labels"))) {
    errors.push_back(LabelsMismatch(*pod_template, template_path));
  }
  api::Append(errors, ValidatePodTemplateSpec(*pod_template, options, template_path));
  RequireRestartAlways(errors, *pod_template, "ReplicationController", template_path);
  return errors;
}

std::string StatusReplicas(const Json& object) {
  return std::to_string(IntAt(object, 0, "status", "replicas"));
}

constexpr SelectableField kFields[] = {{"status.replicas", StatusReplicas}};

class ReplicationController final : public ReplicatedPods {
 public:
  // The template's labels stand in for an absent selector and for absent labels.
  void Default(Json& object) const override {
    ReplicatedPods::Default(object);
    Json& spec = object["spec"];
    const Json labels = ObjectAt(spec, "template", "metadata", "labels");
    if (labels.empty()) return;
    if (ObjectAt(spec, "selector").empty()) spec["selector"] = labels;
    if (ObjectAt(object, "metadata", "labels").empty()) ObjectField(object, "metadata")["labels"] = labels;
  }

  std::span<const SelectableField> SelectableFields() const override { return kFields; }
  bool OrphansDependentsByDefault() const override { return true; }

 protected:
  FieldErrors ValidateSpec(const Json& spec, const PodValidationOptions& options) const override {
    return Spec(spec, options);
  }
  bool HasImmutableSelector() const override { return false; }
};

}  // namespace

const Strategy& ReplicationControllerStrategy() {
  static const ReplicationController strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
