#pragma once

#include <compare>
#include <string>
#include <utility>

#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::garbage_collector {

// Where to find an object. The dependents of an unobserved owner may disagree about its identity. The order
// of the members is the order in which the collector tries alternatives.
struct Identity {
  std::string kind;
  std::string api_version;
  std::string ns;
  std::string name;
  std::string uid;

  // As Kubernetes prints it in events: "[v1/Pod, namespace: default, name: web, uid: ...]".
  std::string String() const {
    return "[" + api_version + "/" + kind + ", namespace: " + ns + ", name: " + name + ", uid: " + uid + "]";
  }

  friend auto operator<=>(const Identity&, const Identity&) = default;
};

// The owner's identity as a dependent in `ns` refers to it.
inline Identity OwnerIdentity(const OwnerReference& owner, std::string ns) {
  return {owner.kind, owner.api_version, std::move(ns), owner.name, owner.uid};
}

// Compares everything but the namespace, which a reference does not contain.
inline bool PointsTo(const OwnerReference& reference, const Identity& owner) {
  return reference.uid == owner.uid && reference.name == owner.name && reference.kind == owner.kind &&
         reference.api_version == owner.api_version;
}

}  // namespace terrarium::controllers::garbage_collector
