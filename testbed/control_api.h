#pragma once

// The control endpoints below /terrarium/v1: what a test needs of the plane that Kubernetes has no word for.

#include "apiserver/request.h"
#include "testbed/plane.h"

namespace terrarium::testbed {

bool IsControlPath(const std::string& path);
// REQUIRES: IsControlPath(request.path)
apiserver::Response ServeControl(Plane& plane, const apiserver::Request& request);

}  // namespace terrarium::testbed
