#pragma once

// Everything that is no resource: discovery, OpenAPI, health, version, metrics.

#include <optional>

#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// Answers a request whose path names no resource; 404 in plain text when nothing is there.
Response ServePath(Server& server, const ResourceTable& table, const Request& request);

}  // namespace terrarium::apiserver
