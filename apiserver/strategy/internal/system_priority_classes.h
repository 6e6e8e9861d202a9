#pragma once

#include <cstdint>
#include <string_view>

namespace terrarium::apiserver::strategy {

// The classes that every cluster has from the start. Other names that begin with "system-" are reserved.
struct SystemPriorityClass {
  std::string_view name;
  std::int32_t value;
  std::string_view description;
};
inline constexpr SystemPriorityClass kSystemPriorityClasses[] = {
    {"system-node-critical", 2'000'001'000,
     "Used for system critical pods that must not be moved from their current node."},
    {"system-cluster-critical", 2'000'000'000,
     "Used for system critical pods that must run in the cluster, but can be moved to another node if "
     "necessary."},
};

}  // namespace terrarium::apiserver::strategy
