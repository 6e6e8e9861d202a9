#pragma once

// The hints of Services with trafficDistribution. Mirrors k8s.io/endpointslice/trafficdist, v1.36. Pure.

#include "controllers/endpoints/internal/service_view.h"
#include "controllers/endpoints/internal/slice.h"

namespace terrarium::controllers::endpoints {

// Whether the hints of the Service follow spec.trafficDistribution. The annotation for automatic hints wins.
bool UsesTrafficDistribution(const ServiceView& service);

// Gives each ready endpoint the hint of its zone and, for PreferSameNode, that of its node. A slice of
// `existing` with other hints becomes an update.
void AssignTrafficHints(const ServiceView& service, const Slices& existing, SlicePlan& plan);

// Removes all hints.
void RemoveHints(const Slices& existing, SlicePlan& plan);

}  // namespace terrarium::controllers::endpoints
