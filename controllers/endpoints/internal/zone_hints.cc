#include "controllers/endpoints/internal/zone_hints.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "api/base/quantity.h"
#include "api/core_v1/pod.h"
#include "api/core_v1/resource_list.h"
#include "api/json_access.h"
#include "controllers/endpoints/internal/service_slices.h"
#include "controllers/endpoints/internal/traffic_hints.h"
#include "controllers/runtime/event_recorder.h"

namespace terrarium::controllers::endpoints {
namespace {

using Counts = std::map<std::string, int>;

constexpr double kOverload = 0.2;  // by which a zone may be short of endpoints
constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";
constexpr const char* kDisabled = "TopologyAwareHintsDisabled";

// How many endpoints a zone may have.
struct Allocation {
  int least = 0;
  int most = 0;
  double desired = 0;
};
using Allocations = std::map<std::string, Allocation>;

int LeastFor(double desired) { return static_cast<int>(std::ceil(desired * (1 / (1 + kOverload)))); }

std::string OfSize(int endpoints, std::size_t zones) {
  return " (" + std::to_string(endpoints) + " endpoints, " + std::to_string(zones) + " zones)";
}

// Empty: not possible, for the reason in `why`.
Allocations AllocationsFor(const ZoneRatios& ratios, int endpoints, std::string& why) {
  if (ratios.empty()) {
    why = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
    return {};
  }
  if (static_cast<int>(ratios.size()) > endpoints) {
    why = "Insufficient number of endpoints" + OfSize(endpoints, ratios.size());
    return {};
  }
  Allocations allocations;
  int least_of_all = 0;
  for (const auto& [zone, ratio] : ratios) {
    const double desired = ratio * endpoints;
    const int least = LeastFor(desired);
    allocations[zone] = {.least = least, .most = 0, .desired = std::max(desired, static_cast<double>(least))};
    least_of_all += least;
  }
  if (least_of_all > endpoints) {
    why = "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold" +
          OfSize(endpoints, ratios.size());
    return {};
  }
  for (auto& [zone, allocation] : allocations) allocation.most = allocation.least + endpoints - least_of_all;
  return allocations;
}

// The hints of a slice by zone. nullopt: it has to be written, since a ready endpoint has none, or one of a
// zone that needs none, or a zone would get too many beside those `allocated` already.
std::optional<Counts> UsableHints(const Slice& slice, const Counts& allocated,
                                  const Allocations& allocations) {
  Counts counts;
  for (const Endpoint& endpoint : slice.endpoints) {
    if (!endpoint.IsReady()) continue;
    if (!endpoint.hints || endpoint.hints->zones.empty()) return std::nullopt;
    for (const std::string& zone : endpoint.hints->zones) {
      if (!allocations.contains(zone)) return std::nullopt;
      ++counts[zone];
    }
  }
  for (const auto& [zone, count] : counts) {
    const auto before = allocated.find(zone);
    const int others = before == allocated.end() ? 0 : before->second;
    if (count + others > allocations.at(zone).most) return std::nullopt;
  }
  return counts;
}

// The zone with the largest number, and that number.
std::pair<std::string, double> Largest(const std::map<std::string, double>& zones) {
  std::pair<std::string, double> largest;
  for (const auto& [zone, number] : zones)
    if (number > largest.second) largest = {zone, number};
  return largest;
}

// How many endpoints zones give to others, and get.
struct Transfers {
  Counts giving;
  Counts receiving;
};
Transfers TransfersFor(const Allocations& allocations, const Counts& allocated) {
  std::map<std::string, double> surplus;
  std::map<std::string, double> shortage;
  for (const auto& [zone, allocation] : allocations) {
    const auto found = allocated.find(zone);
    const double difference = (found == allocated.end() ? 0 : found->second) - allocation.desired;
    if (difference > 0) surplus[zone] = difference;
    if (difference < 0) shortage[zone] = -difference;
  }
  Transfers transfers;
  for (;;) {
    const auto [giver, to_give] = Largest(surplus);
    const auto [receiver, to_receive] = Largest(shortage);
    if (giver.empty() || receiver.empty() || (to_give < 1.0 && to_receive < 1.0) || to_give < 0.5 ||
        to_receive < 0.5)
      return transfers;
    ++transfers.giving[giver];
    --surplus[giver];
    ++transfers.receiving[receiver];
    --shortage[receiver];
  }
}

void TakeOne(Counts& counts, const std::string& zone) {
  if (--counts[zone] == 0) counts.erase(zone);
}

// Calls `visit` with the ready endpoints of the drafts until it returns false.
template <typename Visit>
void VisitReady(SlicePlan& plan, Visit visit) {
  for (std::vector<SliceDraft>* drafts : {&plan.create, &plan.update})
    for (SliceDraft& draft : *drafts)
      for (Endpoint& endpoint : draft.endpoints)
        if (endpoint.IsReady() && !visit(endpoint)) return;
}

int CountReady(SlicePlan& plan, const Slices& unchanged) {
  int count = 0;
  VisitReady(plan, [&](const Endpoint&) {
    ++count;
    return true;
  });
  for (const SlicePtr& slice : unchanged)
    for (const Endpoint& endpoint : slice->endpoints) count += endpoint.IsReady() ? 1 : 0;
  return count;
}

void Transfer(SlicePlan& plan, Transfers transfers, Counts& allocated) {
  VisitReady(plan, [&](Endpoint& endpoint) {
    if (transfers.giving.empty() || transfers.receiving.empty()) return false;
    if (!transfers.giving.contains(*endpoint.zone)) return true;
    const std::string receiver = transfers.receiving.begin()->first;
    endpoint.hints = Hints{{receiver}, {}};
    TakeOne(transfers.giving, *endpoint.zone);
    TakeOne(transfers.receiving, receiver);
    --allocated[*endpoint.zone];
    ++allocated[receiver];
    return true;
  });
}

bool IsOverloaded(const Counts& zones, const ZoneRatios& ratios) {
  if (zones.empty()) return false;
  if (ratios.empty()) return true;
  double total = 0;
  for (const auto& [zone, count] : zones) total += count;
  return std::any_of(ratios.begin(), ratios.end(), [&](const auto& entry) {
    const auto found = zones.find(entry.first);
    return found == zones.end() || found->second < LeastFor(total * entry.second);
  });
}

}  // namespace

bool IsNodeReady(const api::Object& node) {
  const std::shared_ptr<const api::Json> document = node.Document();
  const api::Json* condition = api::FindCondition(*document, "Ready");
  return condition != nullptr && api::StringAt(*condition, "status") == "True";
}

ZoneRatios ZoneRatiosOf(const std::vector<api::ObjectPtr>& nodes) {
  std::map<std::string, std::int64_t> processors;
  std::int64_t total = 0;
  for (const api::ObjectPtr& node : nodes) {
    const api::ObjectHeader& header = node->header();
    if (api::FindLabel(header, "node-role.kubernetes.io/control-plane") != nullptr ||
        api::FindLabel(header, "node-role.kubernetes.io/master") != nullptr || !IsNodeReady(*node))
      continue;
    const std::string* zone = api::FindLabel(header, kZoneLabel);
    const std::shared_ptr<const api::Json> document = node->Document();
    const api::ResourceList allocatable =
        api::ReadResourceList(api::ObjectAt(*document, "status", "allocatable"));
    const auto cpu = allocatable.find("cpu");
    if (zone == nullptr || zone->empty() || cpu == allocatable.end() || cpu->second.Sign() == 0) return {};
    processors[*zone] += cpu->second.MilliValue();
    total += cpu->second.MilliValue();
  }
  if (processors.size() < 2 || total == 0) return {};
  ZoneRatios ratios;
  for (const auto& [zone, milli] : processors)
    ratios[zone] = static_cast<double>(milli) / static_cast<double>(total);
  return ratios;
}

HintEvents ZoneHints::Assign(const api::ObjectName& service, const std::string& address_type,
                             const Slices& existing, SlicePlan& plan) {
  const std::string suffix = ", addressType: " + address_type;
  auto disable = [&](const std::string& why) {
    Remove(service, address_type);
    RemoveHints(existing, plan);
    return HintEvents{{kWarning, kDisabled, why + suffix}};
  };
  const Slices unchanged = UnchangedBy(plan, existing);
  std::string why;
  const Allocations allocations = AllocationsFor(ratios_, CountReady(plan, unchanged), why);
  if (allocations.empty()) return disable(why);
  Counts allocated;
  for (const SlicePtr& slice : unchanged) {
    const std::optional<Counts> hints = UsableHints(*slice, allocated, allocations);
    if (!hints) {
      plan.update.push_back(DraftOf(slice));
      continue;
    }
    for (const auto& [zone, count] : *hints) allocated[zone] += count;
  }
  bool zones_known = true;
  VisitReady(plan, [&](Endpoint& endpoint) {
    zones_known = endpoint.zone && !endpoint.zone->empty();
    if (!zones_known) return false;
    ++allocated[*endpoint.zone];
    endpoint.hints = Hints{{*endpoint.zone}, {}};
    return true;
  });
  if (!zones_known) return disable("One or more endpoints do not have a zone specified");
  Transfer(plan, TransfersFor(allocations, allocated), allocated);
  if (allocated.empty()) return disable("No hints allocated for zones");
  zones_[service][address_type] = std::move(allocated);
  if (!assigned_.insert(service).second) return {};
  return {{kNormal, "TopologyAwareHintsEnabled", "Topology Aware Hints has been enabled" + suffix}};
}

void ZoneHints::Remove(const api::ObjectName& service, const std::string& address_type) {
  if (auto found = zones_.find(service); found != zones_.end()) {
    found->second.erase(address_type);
    if (found->second.empty()) zones_.erase(found);
  }
  assigned_.erase(service);
}

void ZoneHints::Forget(const api::ObjectName& service) {
  zones_.erase(service);
  assigned_.erase(service);
}

std::vector<api::ObjectName> ZoneHints::Overloaded() const {
  std::vector<api::ObjectName> services;
  for (const auto& [service, by_type] : zones_)
    if (std::any_of(by_type.begin(), by_type.end(),
                    [&](const auto& entry) { return IsOverloaded(entry.second, ratios_); }))
      services.push_back(service);
  return services;
}

}  // namespace terrarium::controllers::endpoints
