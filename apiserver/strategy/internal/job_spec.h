#pragma once

// The spec that Jobs and the job templates of CronJobs share.

#include <string>
#include <vector>

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"
#include "apiserver/validation/pod_template.h"

namespace terrarium::apiserver::strategy {

// Everything but the selector, which a job template must not have. `path` names the spec.
void ValidateJobSpec(FieldErrors& errors, const Json& spec, const PodValidationOptions& options,
                     const api::Path& path);

// spec.podFailurePolicy and spec.successPolicy (job_policies.cc). REQUIRES: the spec has that policy.
void ValidatePodFailurePolicy(FieldErrors& errors, const Json& spec, const api::Path& path);
void ValidateSuccessPolicy(FieldErrors& errors, const Json& spec, const api::Path& path);

std::vector<std::string> JobSpecWarnings(const Json& spec, const api::Path& path);

}  // namespace terrarium::apiserver::strategy
