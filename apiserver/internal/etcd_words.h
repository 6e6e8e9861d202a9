#pragma once

// Properties of etcd that clients of Kubernetes can observe: the key of an object, and the limits of a
// request.

#include <cstddef>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/object.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

// "/registry/pods/default/web"
std::string EtcdKey(const ResourceInfo& resource, std::string_view ns, std::string_view name);

// An etcd transaction has a condition on the key and, for an update, a read of the current object.
enum class EtcdWrite { kCreate, kUpdate };

// An error with the message of etcd or of its client when the write would exceed `request_bytes_max`. Objects
// are measured in the form in which Kubernetes stores them.
api::Result<void> CheckEtcdLimits(const ResourceInfo& resource, const api::Object& object, EtcdWrite write,
                                  std::size_t request_bytes_max);

}  // namespace terrarium::apiserver
