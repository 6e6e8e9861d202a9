#pragma once

#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// What every cluster has before anybody asks: its four namespaces and the Service of the API itself. Those that are
// there already stay as they are.
void CreateClusterObjects(Server& server);

}  // namespace terrarium::apiserver
