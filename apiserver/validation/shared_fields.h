#pragma once

// Checks of pod fields that other kinds have too. All append their findings to `errors`.

#include <string_view>

#include "api/base/field_error.h"
#include "api/json.h"

namespace terrarium::apiserver::pod_rules {

// container_env.cc: a key of a ConfigMap or Secret.
void CheckKeySelector(const api::Json& selector, const api::Path& path, api::FieldErrors& errors);
// resources.cc: one limit of a ResourceQuota.
void CheckQuotaLimit(std::string_view name, const api::Json& limit, const api::Path& path,
                     api::FieldErrors& errors);

// resources.cc: a resource that a LimitRange limits for containers and pods, or for another type.
void CheckLimitedResource(std::string_view name, bool of_containers, const api::Path& path,
                          api::FieldErrors& errors);
// Whether limits of the resource may exceed its requests.
bool IsOvercommitAllowed(std::string_view name);

}  // namespace terrarium::apiserver::pod_rules
