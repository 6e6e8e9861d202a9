#pragma once

// What endpoints depend on in a pod. Pure.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/object.h"

namespace terrarium::controllers::endpoints {

struct PodFacts {
  struct NamedPort {
    std::string name;
    std::string protocol;
    std::int64_t number = 0;
  };

  api::ObjectName name;
  std::string uid;
  std::string node_name;
  std::string hostname;
  std::string subdomain;
  std::vector<std::string> ips;
  std::vector<NamedPort> ports;  // of containers, then of sidecars
  bool has_address = false;
  bool ended = false;  // Succeeded or Failed
  bool deleting = false;
  bool ready = false;
  std::optional<api::Time> readiness_changed;

  // Whether the pod can be an endpoint at all. An ended pod cannot, nor one without an address.
  bool HasEndpoint() const { return !ended && has_address; }
};
using PodFactsPtr = std::shared_ptr<const PodFacts>;

PodFactsPtr ReadPodFacts(const api::Object& pod);

// Whether a change of a pod may change its endpoints, besides which Services select it.
// As in Kubernetes, a pod that ends while it is neither ready nor being deleted is not noticed.
bool EndpointsChanged(const PodFacts& before, const PodFacts& after);

}  // namespace terrarium::controllers::endpoints
