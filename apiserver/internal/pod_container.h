#pragma once

// Which container of a pod a request means, and who could tell about it. Shared by log, exec, attach and
// portforward.

#include <string>

#include "api/base/status.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// The container of that name; of a pod with one container, that one when no name is given.
api::Result<std::string> ChooseContainer(const Json& pod, const std::string& asked);

// An error when the pod's node is not there to be asked.
api::Result<bool> CheckNode(const Call& call, const Json& pod);

}  // namespace terrarium::apiserver
