#pragma once

#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// Creates the objects that every cluster has from the start: four namespaces, the Service of the API itself,
// the default ServiceCIDR, the system's PriorityClasses, and the objects of API Priority and Fairness.
// Existing objects are left untouched.
void CreateClusterObjects(Server& server);

}  // namespace terrarium::apiserver
