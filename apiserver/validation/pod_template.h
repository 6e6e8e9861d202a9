#pragma once

// Pod templates and pod specs, as every workload kind embeds them.

#include <string>
#include <vector>

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver {

struct PodValidationOptions {
  // Refuse a pod-deletion-cost annotation that is not an int32 (gate PodDeletionCost).
  bool check_pod_deletion_cost = true;
  // The spec belongs to a Pod, not to a template: some rules apply only to Pods.
  bool resource_is_pod = false;
};

// `old` is the pod or pod template that an update replaces: an invalid value that it has may stay.
PodValidationOptions PodOptions(const StrategyContext& context, const Json* old = nullptr);

// Defaults of a pod spec that depend on other fields (imagePullPolicy from the tag, emptyDir for a volume
// without a source, serviceAccount from serviceAccountName, ...), for pods and templates. The static ones
// come from the schema tables. Fields of Kubernetes features that are off in the release we follow are
// dropped here as well.
void DefaultPodSpec(Json& pod_spec);
// Defaults for Pods only: requests from limits, host ports under hostNetwork.
void DefaultPod(Json& pod);

// `pod_metadata` is the pod's, or an empty object for a template.
FieldErrors ValidatePodSpec(const Json& pod_spec, const Json& pod_metadata,
                            const PodValidationOptions& options, const api::Path& path);
// `path` names the template, e.g. spec.template.
FieldErrors ValidatePodTemplateSpec(const Json& pod_template, const PodValidationOptions& options,
                                    const api::Path& path);
// A claim template of an ephemeral volume; `path` names the template.
FieldErrors ValidatePersistentVolumeClaimTemplate(const Json& claim_template, const api::Path& path);
FieldErrors ValidateTolerations(const Json& tolerations, const api::Path& path);
// core/v1 NodeSelector.
FieldErrors ValidateNodeSelector(const Json& node_selector, const api::Path& path);

FieldErrors ValidatePodCreate(const Json& pod, const PodValidationOptions& options);
FieldErrors ValidatePodUpdate(const Json& pod, const Json& old, const PodValidationOptions& options);
FieldErrors ValidatePodStatusUpdate(const Json& pod, const Json& old, const PodValidationOptions& options);

// Warnings Kubernetes gives for a pod spec (deprecated fields, duplicate names, overlapping ports, ...).
// `path` names the template, and is empty for a pod.
std::vector<std::string> PodSpecWarnings(const Json& pod_template_or_pod, const api::Path& path);

// BestEffort, Burstable or Guaranteed.
std::string PodQosClass(const Json& pod_spec);

}  // namespace terrarium::apiserver
