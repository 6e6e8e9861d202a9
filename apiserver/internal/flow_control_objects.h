#pragma once

// The FlowSchemas and PriorityLevelConfigurations that kube-apiserver 1.36 creates: the mandatory ones, and
// the suggested ones. No request is queued by them here.

#include <vector>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::apiserver {

std::vector<api::Json> PriorityLevels();
// With the status that names their priority level as found.
std::vector<api::Json> FlowSchemas(api::Time now);

}  // namespace terrarium::apiserver
