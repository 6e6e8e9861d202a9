#pragma once

// What the kinds that run pods from a template check of their selector and template.

#include <string>
#include <string_view>
#include <vector>

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"
#include "apiserver/validation/pod_template.h"

namespace terrarium::apiserver::strategy {

// The defaults of spec.template's pod that depend on other fields; nothing when `spec` has no template.
void DefaultTemplate(Json& spec);

// spec.selector is present, well formed and not empty; `empty_message` is said when it is.
void RequiredSelector(FieldErrors& errors, const Json& spec, std::string_view empty_message,
                      const api::Path& path);

// The template fits spec.selector, is valid, and restarts for ever. A selector that cannot be read is refused
// with `unreadable_message` and the template is then not looked at. `kind` is the word in
// "activeDeadlineSeconds in ... ".
struct TemplateRules {
  std::string_view kind;
  std::string_view unreadable_message;
};
void SelectedTemplate(FieldErrors& errors, const Json& spec, const TemplateRules& rules,
                      const PodValidationOptions& options, const api::Path& path);
// restartPolicy Always and no activeDeadlineSeconds.
void RunsForEver(FieldErrors& errors, const Json& pod_template, std::string_view kind, const api::Path& path);
// "`selector` does not match template `labels`", naming the labels as they are (null when there are none).
api::FieldError LabelsMismatch(const Json& pod_template, const api::Path& template_path);

// replicas, fullyLabeledReplicas, ... of ReplicaSet and ReplicationController.
void ReplicaCounters(FieldErrors& errors, const Json& status, const api::Path& path);

// Pod options for spec.template; `old` is the object that an update replaces, or null.
PodValidationOptions TemplateOptions(const StrategyContext& context, const Json* old);

// Warnings of spec.template, on create and whenever an update changes what the generation counts.
std::vector<std::string> TemplateWarnings(const Strategy& strategy, const Json& object, const Json* old);

}  // namespace terrarium::apiserver::strategy
