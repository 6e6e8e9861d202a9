#include "controllers/endpoints/internal/service_pods.h"

#include <algorithm>
#include <iterator>

namespace terrarium::controllers::endpoints {
namespace {

using api::ObjectName;
using Names = std::vector<ObjectName>;

Names UnionOf(const Names& a, const Names& b) {
  Names all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

}  // namespace

bool ServicePods::Has(const ObjectName& service, const api::LabelSelector& selector) const {
  const auto found = services_.find(service);
  return found != services_.end() && found->second.selector == selector;
}

void ServicePods::Set(const ObjectName& service, const api::LabelSelector& selector,
                      const std::vector<api::ObjectPtr>& candidates) {
  selectors_.Set(service, selector);
  Service& entry = services_[service];
  entry.selector = selector;
  entry.pods.clear();
  for (const api::ObjectPtr& pod : candidates)
    if (selector.Matches(pod->header())) entry.pods[pod->header().name] = ReadPodFacts(*pod);
}

void ServicePods::Remove(const ObjectName& service) {
  selectors_.Remove(service);
  services_.erase(service);
}

// Mirrors GetPodUpdateProjectionKey and GetServicesToUpdate of k8s.io/endpointslice/util, v1.36.
Names ServicePods::Follow(const api::Object* before, const api::Object* after) {
  const bool relabelled =
      before != nullptr && after != nullptr && before->header().labels != after->header().labels;
  const Names now = after == nullptr ? Names() : selectors_.Matching(after->header());
  const Names was = before == nullptr                ? Names()
                    : after == nullptr || relabelled ? selectors_.Matching(before->header())
                                                     : now;
  if (now.empty() && was.empty()) return {};
  PodFactsPtr old;
  for (const ObjectName& name : was) {
    Pods& pods = services_.at(name).pods;
    auto found = pods.find(before->header().name);
    if (found == pods.end()) continue;
    old = found->second;
    if (!std::binary_search(now.begin(), now.end(), name)) pods.erase(found);
  }
  if (now.empty()) return was;
  const PodFactsPtr facts = ReadPodFacts(*after);
  for (const ObjectName& name : now) services_.at(name).pods[facts->name.name] = facts;
  if (old == nullptr) return UnionOf(now, was);
  const bool changed = EndpointsChanged(*old, *facts);
  if (!relabelled) return changed ? now : Names();
  if (changed) return UnionOf(now, was);
  Names moved;
  std::set_symmetric_difference(now.begin(), now.end(), was.begin(), was.end(), std::back_inserter(moved));
  return moved;
}

const ServicePods::Pods& ServicePods::PodsOf(const ObjectName& service) const {
  static const Pods kNone;
  const auto found = services_.find(service);
  return found == services_.end() ? kNone : found->second.pods;
}

}  // namespace terrarium::controllers::endpoints
