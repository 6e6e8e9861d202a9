#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/json.h"

namespace terrarium::api {

// An entry of metadata.ownerReferences.
struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool block_owner_deletion = false;

  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

std::vector<OwnerReference> OwnerReferencesOf(const Json& document);
// The owner marked as controller; nullptr when there is none. The headers of stored objects hold the answer
// (Object::controller). Thread-safe; the objects of one owner mostly share one reference, since thousands of
// pods name the same ReplicaSet.
std::shared_ptr<const OwnerReference> ControllerOf(const Json& document);

}  // namespace terrarium::api
