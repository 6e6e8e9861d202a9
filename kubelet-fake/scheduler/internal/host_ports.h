#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/json.h"

namespace terrarium::kubelet_fake::scheduling {

// A port of the node that a container takes for itself.
struct HostPort {
  std::string ip;  // 0.0.0.0: every address
  std::string protocol;
  std::int64_t port = 0;

  bool Conflicts(const HostPort& other) const;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// Of the containers that run as long as the pod does.
std::vector<HostPort> HostPortsOf(const api::Json& pod_spec);
bool AnyConflict(const std::vector<HostPort>& wanted, const std::vector<HostPort>& taken);

}  // namespace terrarium::kubelet_fake::scheduling
