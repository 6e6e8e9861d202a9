#pragma once

// The Endpoints object of a Service. Mirrors the second half of syncService of
// pkg/controller/endpoint/endpoints_controller.go, v1.36. Pure.

#include <optional>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/endpoints/internal/service_view.h"
#include "controllers/endpoints/internal/subsets.h"

namespace terrarium::controllers::endpoints {

// Whether the Endpoints need no write.
bool AreEndpointsCurrent(const api::Json& endpoints, const Subsets& subsets, const ServiceView& service);

// The Endpoints with these subsets. `current` is the object as stored, or null. Without a `trigger` the
// annotation of the last one is removed.
api::Json EndpointsDocument(api::Json current, Subsets subsets, const ServiceView& service,
                            std::optional<api::Time> trigger);

}  // namespace terrarium::controllers::endpoints
