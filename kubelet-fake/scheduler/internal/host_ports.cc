#include "kubelet-fake/scheduler/internal/host_ports.h"

#include <algorithm>
#include <string_view>

#include "api/json_access.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;
using api::ListAt;
using api::StringAt;

constexpr std::string_view kEveryAddress = "0.0.0.0";

std::string Or(std::string_view text, std::string_view otherwise) {
  return std::string(text.empty() ? otherwise : text);
}

void AppendPorts(const Json& container, std::vector<HostPort>& out) {
  for (const Json& port : ListAt(container, "ports")) {
    const std::int64_t number = api::IntAt(port, 0, "hostPort");
    if (number <= 0) continue;
    out.push_back(
        {Or(StringAt(port, "hostIP"), kEveryAddress), Or(StringAt(port, "protocol"), "TCP"), number});
  }
}

}  // namespace

bool HostPort::Conflicts(const HostPort& other) const {
  return port == other.port && protocol == other.protocol &&
         (ip == other.ip || ip == kEveryAddress || other.ip == kEveryAddress);
}

std::vector<HostPort> HostPortsOf(const Json& pod_spec) {
  std::vector<HostPort> out;
  for (const Json& container : ListAt(pod_spec, "initContainers")) {
    if (StringAt(container, "restartPolicy") == "Always") AppendPorts(container, out);
  }
  for (const Json& container : ListAt(pod_spec, "containers")) AppendPorts(container, out);
  return out;
}

bool AnyConflict(const std::vector<HostPort>& wanted, const std::vector<HostPort>& taken) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const HostPort& port) {
    return std::any_of(taken.begin(), taken.end(),
                       [&](const HostPort& other) { return port.Conflicts(other); });
  });
}

}  // namespace terrarium::kubelet_fake::scheduling
