#pragma once

// The schemas of types that the tables do not describe as structs.

#include <string_view>

#include "api/json.h"
#include "apiserver/openapi/internal/definitions.h"

namespace terrarium::apiserver::openapi {

inline constexpr std::string_view kQuantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
inline constexpr std::string_view kIntOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
inline constexpr std::string_view kTime = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
inline constexpr std::string_view kMicroTime = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
inline constexpr std::string_view kDuration = "io.k8s.apimachinery.pkg.apis.meta.v1.Duration";
inline constexpr std::string_view kRawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension";
inline constexpr std::string_view kFieldsV1 = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";
inline constexpr std::string_view kPatch = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
inline constexpr std::string_view kVersionInfo = "io.k8s.apimachinery.pkg.version.Info";

// REQUIRES: `name` is one of the above.
api::Json WellKnownSchema(std::string_view name, Dialect dialect);

// A list of JSON patch operations, for which Kubernetes has no schema of its own.
api::Json JsonPatchSchema();

}  // namespace terrarium::apiserver::openapi
