#pragma once

#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// Creates the objects that every cluster has from the start: four namespaces and the Service of the API
// itself. Existing objects are left untouched.
void CreateClusterObjects(Server& server);

}  // namespace terrarium::apiserver
