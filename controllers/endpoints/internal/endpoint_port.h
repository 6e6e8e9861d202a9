#pragma once

// The ports of endpoints, and the order in which Kubernetes writes them: that of the FNV-1a hash of their
// dump as Go structures. Pure.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/json.h"

namespace terrarium::controllers::endpoints {

struct EndpointPort {
  std::string name;
  std::string protocol;
  std::optional<std::int64_t> port;
  std::optional<std::string> app_protocol;

  friend auto operator<=>(const EndpointPort&, const EndpointPort&) = default;
};
// Endpoints with equal ports share slices, or a subset.
using Ports = std::vector<EndpointPort>;

Ports ReadPorts(const api::Json& list);
api::Json ToJson(const Ports& ports);

// The order in EndpointSlices, and in the subsets of Endpoints.
void SortForSlice(Ports& ports);
void SortForSubset(Ports& ports);

}  // namespace terrarium::controllers::endpoints
