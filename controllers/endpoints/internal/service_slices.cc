#include "controllers/endpoints/internal/service_slices.h"

#include <algorithm>
#include <set>
#include <utility>

namespace terrarium::controllers::endpoints {
namespace {

bool IsReserved(const std::string& label) {
  return label == kServiceNameLabel || label == kSliceManagerLabel || label == kHeadlessLabel;
}

Labels WithoutReserved(const Labels& labels) {
  Labels out;
  for (const auto& [key, value] : labels)
    if (!IsReserved(key)) out.emplace(key, value);
  return out;
}

// Moves endpoints from `desired` to the draft until that is full.
void Fill(SliceDraft& draft, EndpointSet& desired) {
  while (!desired.empty() && draft.endpoints.size() < kEndpointsPerSlice)
    draft.endpoints.push_back(std::move(desired.extract(desired.begin()).value()));
}

SliceDraft NewSlice(const ServiceView& service, const std::string& address_type, const Ports& ports) {
  return {.stored = nullptr,
          .address_type = address_type,
          .ports = ports,
          .endpoints = {},
          .labels = LabelsFor(service, {}).labels};
}

// The slice that `count` more endpoints fill best; end: they fit into none.
Slices::iterator BestFit(Slices& slices, std::size_t count) {
  auto best = slices.end();
  std::size_t least = kEndpointsPerSlice;
  for (auto it = slices.begin(); it != slices.end(); ++it) {
    const std::size_t size = count + (*it)->endpoints.size();
    if (size > kEndpointsPerSlice || kEndpointsPerSlice - size >= least) continue;
    least = kEndpointsPerSlice - size;
    best = it;
  }
  return best;
}

// The endpoints of the slice that are still desired, which leave `desired`.
std::vector<Endpoint> KeepDesired(const Slice& slice, EndpointSet& desired, SlicePlan& plan, bool& updated) {
  std::vector<Endpoint> kept;
  for (const Endpoint& endpoint : slice.endpoints) {
    const auto found = desired.find(endpoint);
    if (found == desired.end()) {
      ++plan.removed;
      continue;
    }
    kept.push_back(std::move(desired.extract(found).value()));
    if (IsUpToDate(endpoint, kept.back())) continue;
    updated = true;
    ++plan.updated;
  }
  return kept;
}

// The slices for the endpoints with one set of ports.
SlicePlan PlanPorts(const ServiceView& service, const std::string& address_type, const Ports& ports,
                    const Slices& existing, EndpointSet desired) {
  SlicePlan plan;
  Slices unchanged;
  // 1. Remove endpoints that are no longer desired, and update those that have changed.
  for (const SlicePtr& slice : existing) {
    bool updated = false;
    std::vector<Endpoint> kept = KeepDesired(*slice, desired, plan, updated);
    SliceLabels labels = LabelsFor(service, slice->labels);
    if (updated || kept.size() != slice->endpoints.size()) {
      if (kept.empty()) {
        plan.remove.push_back(slice);
        continue;
      }
      SliceDraft draft = DraftOf(slice);
      draft.endpoints = std::move(kept);
      draft.labels = std::move(labels.labels);
      plan.update.push_back(std::move(draft));
    } else if (labels.differ) {
      SliceDraft draft = DraftOf(slice);
      draft.labels = std::move(labels.labels);
      plan.update.push_back(std::move(draft));
    } else {
      unchanged.push_back(slice);
    }
  }
  plan.added = static_cast<int>(desired.size());
  // 2. Fill slices that are written anyway, the fullest first.
  std::stable_sort(plan.update.begin(), plan.update.end(), [](const SliceDraft& a, const SliceDraft& b) {
    return a.endpoints.size() > b.endpoints.size();
  });
  for (SliceDraft& draft : plan.update) Fill(draft, desired);
  // 3. Put the rest into one more slice where they all fit, else into new slices.
  while (!desired.empty()) {
    auto fit = unchanged.end();
    if (desired.size() < kEndpointsPerSlice) fit = BestFit(unchanged, desired.size());
    SliceDraft draft = fit == unchanged.end() ? NewSlice(service, address_type, ports) : DraftOf(*fit);
    Fill(draft, desired);
    if (fit == unchanged.end()) {
      plan.create.push_back(std::move(draft));
    } else {
      unchanged.erase(fit);
      plan.update.push_back(std::move(draft));
    }
  }
  return plan;
}

// Whether the slice is the one that a Service without endpoints has.
bool IsPlaceholder(const Slice& slice, const ServiceView& service) {
  return slice.ports.empty() && slice.endpoints.empty() && slice.labels == LabelsFor(service, {}).labels &&
         slice.IsOwnedBy(service.object->header().uid, "Service");
}

// The desired endpoints by their ports.
std::map<Ports, EndpointSet> DesiredEndpoints(const ServiceView& service, const ServicePods::Pods& pods,
                                              const FindNode& nodes, const std::string& address_type,
                                              std::vector<std::string>& without_node) {
  std::map<Ports, EndpointSet> desired;
  for (const auto& [name, pod] : pods) {
    if (!pod->HasEndpoint()) continue;
    Ports ports = PortsOn(service, *pod);
    SortForSlice(ports);
    EndpointSet& endpoints = desired[std::move(ports)];
    const std::optional<NodeZone> node = nodes(pod->node_name);
    if (!node && !service.publishes_not_ready) {
      without_node.push_back(name);
      continue;
    }
    Endpoint endpoint = EndpointOf(service, *pod, node ? node->zone : "", address_type);
    if (!endpoint.addresses.empty()) endpoints.insert(std::move(endpoint));
  }
  return desired;
}

}  // namespace

Endpoint EndpointOf(const ServiceView& service, const PodFacts& pod, const std::string& zone,
                    const std::string& address_type) {
  Endpoint endpoint;
  for (const std::string& ip : pod.ips)
    if ((ip.find(':') == std::string::npos) == (address_type == "IPv4")) endpoint.addresses.push_back(ip);
  std::sort(endpoint.addresses.begin(), endpoint.addresses.end());
  endpoint.serving = pod.ready;
  endpoint.terminating = pod.deleting;
  // A terminating endpoint is never ready, unless the Service publishes all its pods.
  endpoint.ready = service.publishes_not_ready || (pod.ready && !pod.deleting);
  if (!pod.node_name.empty()) endpoint.node_name = pod.node_name;
  if (!zone.empty()) endpoint.zone = zone;
  if (HasHostname(service, pod)) endpoint.hostname = pod.hostname;
  TargetReference target;
  target.kind = "Pod";
  target.ns = pod.name.ns;
  target.name = pod.name.name;
  target.uid = pod.uid;
  endpoint.target = std::move(target);
  return endpoint;
}

SliceLabels LabelsFor(const ServiceView& service, const Labels& stored) {
  SliceLabels out{WithoutReserved(service.labels), false};
  out.differ = out.labels != WithoutReserved(stored);
  if (!service.HasClusterIp()) out.labels[kHeadlessLabel] = "";
  out.labels[kServiceNameLabel] = service.name.name;
  out.labels[kSliceManagerLabel] = kSliceManager;
  return out;
}

ServicePlan PlanSlices(const ServiceView& service, const ServicePods::Pods& pods, const FindNode& nodes,
                       const Slices& existing, const std::string& address_type) {
  ServicePlan plan;
  std::map<Ports, Slices> stored;
  for (const SlicePtr& slice : existing) {
    if (slice->IsOwnedBy(service.object->header().uid, "Service"))
      stored[slice->ports].push_back(slice);
    else
      plan.slices.remove.push_back(slice);
  }
  std::map<Ports, EndpointSet> desired =
      DesiredEndpoints(service, pods, nodes, address_type, plan.without_node);
  for (auto& [ports, endpoints] : desired) {
    const int count = static_cast<int>(endpoints.size());
    const Slices& before = stored[ports];
    SlicePlan planned = PlanPorts(service, address_type, ports, before, std::move(endpoints));
    plan.usage[ports] = {.endpoints = count,
                         .slices = static_cast<int>(before.size() + planned.create.size()) -
                                   static_cast<int>(planned.remove.size())};
    plan.slices.Append(std::move(planned));
  }
  for (auto& [ports, slices] : stored)
    if (!desired.contains(ports))
      plan.slices.remove.insert(plan.slices.remove.end(), slices.begin(), slices.end());
  // A Service without slices gets an empty one.
  if (plan.slices.remove.size() == existing.size() && plan.slices.create.empty()) {
    const bool present = plan.slices.remove.size() == 1 && IsPlaceholder(*plan.slices.remove[0], service);
    if (present)
      plan.slices.remove.clear();
    else
      plan.slices.create.push_back(NewSlice(service, address_type, {}));
    plan.usage[{}] = {.endpoints = 0, .slices = 1};
  }
  return plan;
}

Slices UnchangedBy(const SlicePlan& plan, const Slices& existing) {
  std::set<std::string_view> changed;
  for (const SliceDraft& draft : plan.update) changed.insert(draft.stored->name);
  for (const SlicePtr& slice : plan.remove) changed.insert(slice->name);
  Slices out;
  for (const SlicePtr& slice : existing)
    if (!changed.contains(slice->name)) out.push_back(slice);
  return out;
}

}  // namespace terrarium::controllers::endpoints
