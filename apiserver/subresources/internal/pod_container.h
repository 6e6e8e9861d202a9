#pragma once

// Finds the container that a request names. Shared by log, exec, attach and portforward.

#include <string>

#include "api/base/status.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// The container of that name; of a pod with one container, that one when no name is given.
api::Result<std::string> ChooseContainer(const Json& pod, const std::string& asked);

// An error when the pod's node does not exist.
api::Result<void> CheckNode(const Call& call, const Json& pod);

}  // namespace terrarium::apiserver
