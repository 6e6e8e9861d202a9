#include "apiserver/strategy/internal/pod_template_rules.h"

#include "api/selector/label_selector.h"
#include "apiserver/strategy/internal/checks.h"

namespace terrarium::apiserver::strategy {

void DefaultTemplate(Json& spec) {
  if (Find(spec, "template", "spec") != nullptr) DefaultPodSpec(spec["template"]["spec"]);
}

void RequiredSelector(FieldErrors& errors, const Json& spec, std::string_view empty_message,
                      const Path& path) {
  const Json* selector = Find(spec, "selector");
  if (selector == nullptr) {
    errors.push_back(api::RequiredError(path.Child("selector")));
    return;
  }
  api::Append(errors, ValidateLabelSelector(*selector, {}, path.Child("selector")));
  if (ObjectAt(*selector, "matchLabels").empty() && ListAt(*selector, "matchExpressions").empty()) {
    errors.push_back(api::InvalidError(path.Child("selector"), *selector, empty_message));
  }
}

api::FieldError LabelsMismatch(const Json& pod_template, const Path& template_path) {
  const Json* labels = Find(pod_template, "metadata", "labels");
  return api::InvalidError(template_path.Child("metadata", "labels"), labels == nullptr ? Json() : *labels,
                           "`selector` does not match template `labels`");
}

void RequireRestartAlways(FieldErrors& errors, const Json& pod_template, std::string_view kind,
                          const Path& path) {
  OneOf(errors, path.Child("spec", "restartPolicy"), StringAt(pod_template, "spec", "restartPolicy"),
        {"Always"});
  if (Find(pod_template, "spec", "activeDeadlineSeconds") != nullptr) {
    errors.push_back(
        api::ForbiddenError(path.Child("spec", "activeDeadlineSeconds"),
                            "activeDeadlineSeconds in " + std::string(kind) + " is not Supported"));
  }
}

void SelectorAndTemplate(FieldErrors& errors, const Json& spec, const PodValidationOptions& options,
                         const Path& path) {
  // The word "deployment" is Kubernetes' own, for ReplicaSets too.
  RequiredSelector(errors, spec, "empty selector is invalid for deployment", path);
  const Json* selector_document = Find(spec, "selector");
  const auto selector = api::LabelSelector::FromDocument(selector_document);
  if (!selector) {
    errors.push_back(api::InvalidError(path.Child("selector"), *selector_document, "invalid label selector"));
    return;
  }
  const Json& pod_template = ObjectAt(spec, "template");
  const Path template_path = path.Child("template");
  if (!selector->selects_everything() && !selector->Matches(ObjectAt(pod_template, "metadata", "labels"))) {
    errors.push_back(LabelsMismatch(pod_template, template_path));
  }
  api::Append(errors, ValidatePodTemplateSpec(pod_template, options, template_path));
  RequireRestartAlways(errors, pod_template, "ReplicaSet", template_path);
}

void ReplicaCounters(FieldErrors& errors, const Json& status, const Path& path) {
  for (const char* key : {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
                          "observedGeneration", "terminatingReplicas"}) {
    Nonnegative(errors, status, key, path);
  }
  for (const char* key : {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"}) {
    NotGreater(errors, status, key, "replicas", "cannot be greater than status.replicas", path);
  }
  NotGreater(errors, status, "availableReplicas", "readyReplicas", "cannot be greater than readyReplicas",
             path);
}

PodValidationOptions TemplateOptions(const StrategyContext& context, const Json* old) {
  return PodOptions(context, old == nullptr ? nullptr : &ObjectAt(*old, "spec", "template"));
}

std::vector<std::string> TemplateWarnings(const Strategy& strategy, const Json& object, const Json* old) {
  if (old != nullptr && !strategy.BumpsGeneration(object, *old)) return {};
  return PodSpecWarnings(ObjectAt(object, "spec", "template"), Path("spec").Child("template"));
}

}  // namespace terrarium::apiserver::strategy
