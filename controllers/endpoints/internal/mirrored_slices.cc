#include "controllers/endpoints/internal/mirrored_slices.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <arpa/inet.h>

#include "api/json_access.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;

// Slices by addressType and ports.
using GroupKey = std::pair<std::string, Ports>;

// "IPv4", "IPv6", or empty for text that is not an address.
std::string FamilyOf(const std::string& ip) {
  unsigned char bytes[16];
  if (inet_pton(AF_INET, ip.c_str(), bytes) == 1) return "IPv4";
  return inet_pton(AF_INET6, ip.c_str(), bytes) == 1 ? "IPv6" : "";
}

Endpoint EndpointOf(const Address& address, bool ready) {
  Endpoint endpoint;
  endpoint.addresses = {address.ip};
  endpoint.ready = ready;
  endpoint.node_name = address.node_name;
  if (!address.hostname.empty()) endpoint.hostname = address.hostname;
  endpoint.target = address.target;
  return endpoint;
}

Labels Without(Labels labels, std::initializer_list<const char*> keys) {
  for (const char* key : keys) labels.erase(key);
  return labels;
}

Labels LabelsOf(const EndpointsView& endpoints) {
  Labels labels = endpoints.labels;
  labels[kServiceNameLabel] = endpoints.object->header().name;
  labels[kSliceManagerLabel] = kMirroringManager;
  return labels;
}

// Puts the addresses of a subset into the groups of their families.
void Collect(const Subset& subset, std::map<GroupKey, EndpointSet>& groups, MirrorPlan& plan) {
  Ports ports = subset.ports;
  SortForSlice(ports);
  for (const char* family : {"IPv4", "IPv6"}) groups[{family, ports}];
  std::size_t taken = 0;
  auto take = [&](const std::vector<Address>& addresses, bool ready) {
    for (const Address& address : addresses) {
      if (taken >= kMirroredPerSubset) return;
      const std::string family = FamilyOf(address.ip);
      if (family.empty()) {
        ++plan.invalid;
        continue;
      }
      groups[{family, ports}].insert(EndpointOf(address, ready));
      ++taken;
    }
  };
  take(subset.ready, true);
  take(subset.not_ready, false);
  plan.skipped += static_cast<int>(subset.ready.size() + subset.not_ready.size() - taken);
}

// Counts what a slice lacks of the desired endpoints.
SlicePlan Compare(const Slice& stored, const EndpointSet& desired) {
  SlicePlan counts;
  int matching = 0;
  for (const Endpoint& endpoint : stored.endpoints) {
    const auto found = desired.find(endpoint);
    if (found == desired.end()) {
      ++counts.removed;
      continue;
    }
    ++matching;
    if (!IsUpToDate(endpoint, *found)) ++counts.updated;
  }
  counts.added = static_cast<int>(desired.size()) - matching;
  return counts;
}

bool HasMetadataOf(const Slice& slice, const EndpointsView& endpoints) {
  if (Without(slice.labels, {kSliceManagerLabel, kServiceNameLabel}) != endpoints.labels) return false;
  const std::shared_ptr<const Json> document = slice.object->Document();
  if (ReadLabels(api::ObjectAt(*document, "metadata", "annotations")) != MirroredAnnotations(endpoints))
    return false;
  const api::ObjectHeader& header = endpoints.object->header();
  return std::none_of(slice.owners.begin(), slice.owners.end(), [&](const api::OwnerReference& owner) {
    return owner.kind == "Endpoints" && owner.name == header.name && owner.uid != header.uid;
  });
}

SlicePlan PlanGroup(const EndpointsView& endpoints, const GroupKey& key, const Slices& existing,
                    EndpointSet desired) {
  SlicePlan plan;
  if (desired.empty()) {
    plan.remove = existing;
    for (const SlicePtr& slice : existing) plan.removed += static_cast<int>(slice->endpoints.size());
    return plan;
  }
  if (existing.empty()) {
    plan.added = static_cast<int>(desired.size());
  } else {
    plan = Compare(*existing[0], desired);
    plan.remove.assign(existing.begin() + 1, existing.end());
    if (plan.added + plan.updated + plan.removed == 0 && HasMetadataOf(*existing[0], endpoints)) return plan;
  }
  SliceDraft draft{.stored = existing.empty() ? nullptr : existing[0],
                   .remade = !existing.empty(),
                   .address_type = key.first,
                   .ports = key.second,
                   .endpoints = {},
                   .labels = LabelsOf(endpoints)};
  while (!desired.empty() && draft.endpoints.size() < kMirroredPerSubset)
    draft.endpoints.push_back(std::move(desired.extract(desired.begin()).value()));
  (existing.empty() ? plan.create : plan.update).push_back(std::move(draft));
  return plan;
}

}  // namespace

EndpointsView ReadEndpointsView(const api::ObjectPtr& endpoints) {
  const std::shared_ptr<const Json> document = endpoints->Document();
  return {.object = endpoints,
          .labels = ReadLabels(api::ObjectAt(*document, "metadata", "labels")),
          .annotations = ReadLabels(api::ObjectAt(*document, "metadata", "annotations")),
          .subsets = ReadSubsets(api::ListAt(*document, "subsets"))};
}

bool IsMirrored(const api::Object& endpoints) {
  const std::string* skip = api::FindLabel(endpoints.header(), "endpointslice.kubernetes.io/skip-mirror");
  if (skip != nullptr && *skip == "true") return false;
  const std::shared_ptr<const Json> document = endpoints.Document();
  return api::Find(*document, "metadata", "annotations", "control-plane.alpha.kubernetes.io/leader") ==
         nullptr;
}

Labels MirroredAnnotations(const EndpointsView& endpoints) {
  return Without(endpoints.annotations, {kTriggerTime, "kubectl.kubernetes.io/last-applied-configuration"});
}

MirrorPlan PlanMirror(const EndpointsView& endpoints, const Slices& existing) {
  MirrorPlan plan;
  std::map<GroupKey, EndpointSet> groups;
  for (const Subset& subset : Repack(endpoints.subsets)) Collect(subset, groups, plan);
  std::map<GroupKey, Slices> stored;
  for (const SlicePtr& slice : existing) stored[{slice->address_type, slice->ports}].push_back(slice);
  for (auto& [key, desired] : groups) {
    const int count = static_cast<int>(desired.size());
    const Slices& before = stored[key];
    SlicePlan planned = PlanGroup(endpoints, key, before, std::move(desired));
    PortUsage& usage = plan.usage[key.second];
    usage.endpoints += count;
    usage.slices +=
        static_cast<int>(before.size() + planned.create.size()) - static_cast<int>(planned.remove.size());
    plan.slices.Append(std::move(planned));
  }
  for (const auto& [key, slices] : stored)
    if (!groups.contains(key))
      plan.slices.remove.insert(plan.slices.remove.end(), slices.begin(), slices.end());
  return plan;
}

}  // namespace terrarium::controllers::endpoints
