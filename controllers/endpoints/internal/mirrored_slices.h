#pragma once

// The slices that mirror an Endpoints object of a Service without a selector. Mirrors the reconciler of
// pkg/controller/endpointslicemirroring, v1.36. Pure.

#include <map>
#include <string>

#include "api/json.h"
#include "controllers/endpoints/internal/service_slices.h"
#include "controllers/endpoints/internal/slice.h"
#include "controllers/endpoints/internal/subsets.h"

namespace terrarium::controllers::endpoints {

inline constexpr const char* kMirroringManager = "endpointslicemirroring-controller.k8s.io";
inline constexpr std::size_t kMirroredPerSubset = 1000;

struct EndpointsView {
  api::ObjectPtr object;
  Labels labels;
  Labels annotations;
  Subsets subsets;
};
EndpointsView ReadEndpointsView(const api::ObjectPtr& endpoints);

// Whether slices are to be made of it: not with the label skip-mirror, nor of the lock of a leader election.
bool IsMirrored(const api::Object& endpoints);

struct MirrorPlan {
  SlicePlan slices;
  PortUsages usage;
  int invalid = 0;  // addresses that are not IPs
  int skipped = 0;  // addresses that are not mirrored, the invalid ones included
};
MirrorPlan PlanMirror(const EndpointsView& endpoints, const Slices& existing);

// The annotations that slices take over.
Labels MirroredAnnotations(const EndpointsView& endpoints);

}  // namespace terrarium::controllers::endpoints
