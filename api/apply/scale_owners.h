#pragma once

// The owners of spec.replicas, as seen through the subresource scale: a Scale of autoscaling/v1 has only that
// field, and its owners are those of the object's field.

#include <string_view>

#include "api/apply/managed_fields.h"

namespace terrarium::api {

inline constexpr std::string_view kScaleApiVersion = "autoscaling/v1";

// What the Scale of an object shows. `replicas` is the path of the field in the object.
ManagedFields OwnersOfScale(const ManagedFields& object, const FieldPath& replicas);

// The owners of the object after a write to its Scale made `scale` of them. The new owner's entry has no
// time, as in Kubernetes.
ManagedFields OwnersFromScale(const ManagedFields& object, const ManagedFields& scale,
                              const FieldPath& replicas, const MemberName& api_version);

}  // namespace terrarium::api
