#pragma once

// Automatic hints (service.kubernetes.io/topology-mode: Auto): each zone gets a share of the endpoints in
// proportion to the processors of its nodes. Mirrors k8s.io/endpointslice/topologycache, v1.36. Pure.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "controllers/endpoints/internal/slice.h"

namespace terrarium::controllers::endpoints {

// The share of each zone in the processors of all ready nodes. Empty: hints are not possible, since a node
// has no zone or no processors, or all are in one zone.
using ZoneRatios = std::map<std::string, double>;
ZoneRatios ZoneRatiosOf(const std::vector<api::ObjectPtr>& nodes);

// Whether the condition Ready of the node is True.
bool IsNodeReady(const api::Object& node);

struct HintEvent {
  std::string_view type;
  std::string reason;
  std::string message;
};
using HintEvents = std::vector<HintEvent>;

class ZoneHints {
 public:
  void SetRatios(ZoneRatios ratios) { ratios_ = std::move(ratios); }

  // Assigns hints to the plan of one address type, or removes them and reports why.
  HintEvents Assign(const api::ObjectName& service, const std::string& address_type, const Slices& existing,
                    SlicePlan& plan);
  bool IsAssigned(const api::ObjectName& service) const { return assigned_.contains(service); }
  void Remove(const api::ObjectName& service, const std::string& address_type);
  void Forget(const api::ObjectName& service);

  // Whether no Service has automatic hints.
  bool empty() const { return zones_.empty(); }
  // The Services of which a zone has too few endpoints for its share.
  std::vector<api::ObjectName> Overloaded() const;

 private:
  using Counts = std::map<std::string, int>;  // by zone

  ZoneRatios ratios_;
  std::map<api::ObjectName, std::map<std::string, Counts>> zones_;  // by address type
  std::set<api::ObjectName> assigned_;
};

}  // namespace terrarium::controllers::endpoints
