#pragma once

// The subsets of an Endpoints object. Mirrors pkg/api/v1/endpoints and the helpers of
// pkg/controller/endpoint, v1.36. Pure.

#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "controllers/endpoints/internal/endpoint.h"
#include "controllers/endpoints/internal/endpoint_port.h"
#include "controllers/endpoints/internal/service_pods.h"
#include "controllers/endpoints/internal/service_view.h"

namespace terrarium::controllers::endpoints {

inline constexpr std::size_t kAddressesMax = 1000;

struct Address {
  std::string ip;
  std::string hostname;
  std::optional<std::string> node_name;
  std::optional<TargetReference> target;
};
struct Subset {
  std::vector<Address> ready;
  std::vector<Address> not_ready;
  Ports ports;
};
using Subsets = std::vector<Subset>;

Subsets ReadSubsets(const api::Json& list);
api::Json ToJson(const Subsets& subsets);
bool operator==(const Address& a, const Address& b);  // but for the resourceVersion of the target
bool operator==(const Subset& a, const Subset& b);

// The canonical form: ports that the same addresses offer are in one subset, and all is sorted. An address
// that is ready in one subset and not in another is not ready.
// DIVERGES: Kubernetes orders subsets by a hash of their Go structures, we by their ports and addresses.
Subsets Repack(const Subsets& subsets);

// The subsets of a Service with these pods, repacked.
Subsets SubsetsFor(const ServiceView& service, const ServicePods::Pods& pods);

// Cuts the subsets to kAddressesMax addresses, those not ready first, each subset in proportion. Returns
// whether there were more.
bool Truncate(Subsets& subsets);

std::size_t CountAddresses(const Subsets& subsets);

}  // namespace terrarium::controllers::endpoints
