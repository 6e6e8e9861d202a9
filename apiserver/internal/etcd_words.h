#pragma once

// What clients of Kubernetes get to see of the etcd behind it: the key of an object, and the limits of a
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

// A write names what must be true of the key and, where it replaces an object, asks for the present one.
enum class EtcdWrite { kCreate, kUpdate };

// An error when the write of the object would be more than `request_bytes_max` for etcd, or too much for its
// client, in their words. Objects are measured in the form in which Kubernetes stores them.
api::Result<bool> CheckEtcdLimits(const ResourceInfo& resource, const api::Object& object, EtcdWrite write,
                                  std::size_t request_bytes_max);

}  // namespace terrarium::apiserver
