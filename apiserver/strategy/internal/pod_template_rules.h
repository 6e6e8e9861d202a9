#pragma once

// Rules for the selector and the pod template, shared by the kinds that have a pod template.

#include <string>
#include <string_view>
#include <vector>

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"
#include "apiserver/validation/pod_template.h"

namespace terrarium::apiserver::strategy {

// Sets the defaults of spec.template's pod that depend on other fields. A no-op when `spec` has no template.
void DefaultTemplate(Json& spec);

// Requires a well-formed spec.selector. Reports `empty_message` when the selector is empty.
void RequiredSelector(FieldErrors& errors, const Json& spec, std::string_view empty_message,
                      const api::Path& path);
// RequiredSelector, RequireRestartAlways, and checks that the template is valid and matches the selector. The
// messages are those of Kubernetes' Deployments and ReplicaSets. If the selector is malformed, skips the
// template.
void SelectorAndTemplate(FieldErrors& errors, const Json& spec, const PodValidationOptions& options,
                         const api::Path& path);
// Requires restartPolicy Always and no activeDeadlineSeconds.
void RequireRestartAlways(FieldErrors& errors, const Json& pod_template, std::string_view kind,
                          const api::Path& path);
// The error "`selector` does not match template `labels`" with the template's labels (null when there are
// none).
api::FieldError LabelsMismatch(const Json& pod_template, const api::Path& template_path);

// Checks replicas, fullyLabeledReplicas and the other counters of ReplicaSet and ReplicationController.
void ReplicaCounters(FieldErrors& errors, const Json& status, const api::Path& path);

// Pod options for spec.template; `old` is the object that an update replaces, or null.
PodValidationOptions TemplateOptions(const StrategyContext& context, const Json* old);

// Warnings for spec.template, on create and on each update that increments the generation.
std::vector<std::string> TemplateWarnings(const Strategy& strategy, const Json& object, const Json* old);

}  // namespace terrarium::apiserver::strategy
