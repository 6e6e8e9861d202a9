#pragma once

// Kubernetes' admission plugin PodTopologyLabels: a pod carries the zone and the region of its node as
// labels.

#include <string_view>

#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// Puts the zone and the region of the node into `metadata`, over labels that are there. No node, no labels.
void CopyTopologyLabels(const Server& server, std::string_view node, Json& metadata);

}  // namespace terrarium::apiserver
