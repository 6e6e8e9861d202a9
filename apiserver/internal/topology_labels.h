#pragma once

// Kubernetes' admission plugin PodTopologyLabels: a pod gets the zone and the region of its node as labels.

#include <string_view>

#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// Sets the zone and the region labels in `metadata`, over existing ones. A no-op for an unknown node.
void CopyTopologyLabels(const Server& server, std::string_view node, Json& metadata);

}  // namespace terrarium::apiserver
