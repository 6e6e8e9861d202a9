#pragma once

// Which series of apiserver_request_total a request belongs to.

#include <optional>

#include "apiserver/internal/router.h"
#include "apiserver/metrics.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

// Of a request for a resource. The code is set when it is known.
RequestLabels ResourceLabels(const Route& route, const Request& request);

// Of a request for a path outside the resources; nullopt: not counted.
std::optional<RequestLabels> PathLabels(const Request& request, const Response& response);

}  // namespace terrarium::apiserver
