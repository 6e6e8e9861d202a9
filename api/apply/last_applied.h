#pragma once

// Moving from client-side apply: kubectl's annotation with the configuration that it applied last.

#include <string_view>

#include "api/apply/ownership.h"

namespace terrarium::api {

inline constexpr std::string_view kLastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
// The only manager whose applies read and keep the annotation.
inline constexpr std::string_view kKubectl = "kubectl";

// The conflicts without those about fields that the annotation of `object` shows to have been applied with
// their current value.
FieldConflicts WithoutLastApplied(const OwnedType& type, const Json& object, std::string_view api_version,
                                  FieldConflicts conflicts);

// Sets the annotation of an object that has it to the configuration. An annotation that would make the
// annotations too large is removed.
void UpdateLastApplied(const Json& config, Json& object);

}  // namespace terrarium::api
