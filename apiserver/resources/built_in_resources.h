#pragma once

#include <vector>

#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

// Every kind that each control plane serves, in the order of discovery.
std::vector<ResourcePtr> BuiltInResources();

}  // namespace terrarium::apiserver
