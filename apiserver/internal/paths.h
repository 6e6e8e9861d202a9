#pragma once

// Paths outside the resources: discovery, OpenAPI, health, version, metrics.

#include <optional>

#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// Responds to a request whose path names no resource; 404 in plain text for an unknown path.
Response ServePath(Server& server, const ResourceTable& table, const Request& request);

}  // namespace terrarium::apiserver
