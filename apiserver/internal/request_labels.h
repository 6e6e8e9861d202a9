#pragma once

// The labels of a request in apiserver_request_total.

#include <optional>

#include "apiserver/internal/router.h"
#include "apiserver/metrics.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

// For a request for a resource. The caller sets the code later.
RequestLabels ResourceLabels(const Route& route, const Request& request);

// For a request for a path outside the resources; nullopt: not counted.
std::optional<RequestLabels> PathLabels(const Request& request, const Response& response);

}  // namespace terrarium::apiserver
