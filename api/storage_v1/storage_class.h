#pragma once

// What a StorageClass decides: which provisioner makes volumes, and when claims are bound.

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"

namespace terrarium::api {

// A class whose volumes are created by hand: claims wait for volumes that exist.
inline constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

// Claims are not bound before a pod that uses them has a node.
bool WaitsForFirstConsumer(const Json& storage_class);

// Marked as default by its annotation.
bool IsDefaultClass(const Json& storage_class);

// The class of claims that name none: of several defaults the newest one, then the first by name. nullptr:
// there is none.
ObjectPtr DefaultClass(const std::vector<ObjectPtr>& storage_classes);

}  // namespace terrarium::api
