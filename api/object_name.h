#pragma once

#include <compare>
#include <string>

namespace terrarium::api {

// Which object of a resource. `ns` is empty for cluster-scoped kinds.
struct ObjectName {
  std::string ns;
  std::string name;

  // "ns/name", or "name" without a namespace: how queues, logs and events spell it.
  std::string String() const { return ns.empty() ? name : ns + "/" + name; }

  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

}  // namespace terrarium::api
