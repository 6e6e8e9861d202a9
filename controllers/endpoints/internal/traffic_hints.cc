#include "controllers/endpoints/internal/traffic_hints.h"

#include <algorithm>
#include <optional>

#include "controllers/endpoints/internal/service_slices.h"

namespace terrarium::controllers::endpoints {
namespace {

// Updates the slices that `is_wrong` names, then corrects all drafts.
template <typename IsWrong, typename Correct>
void Revise(const Slices& existing, SlicePlan& plan, IsWrong is_wrong, Correct correct) {
  for (const SlicePtr& slice : UnchangedBy(plan, existing))
    if (std::any_of(slice->endpoints.begin(), slice->endpoints.end(), is_wrong))
      plan.update.push_back(DraftOf(slice));
  for (std::vector<SliceDraft>* drafts : {&plan.create, &plan.update})
    for (SliceDraft& draft : *drafts)
      for (Endpoint& endpoint : draft.endpoints) correct(endpoint);
}

}  // namespace

bool UsesTrafficDistribution(const ServiceView& service) {
  const std::string& value = service.traffic_preference;
  return !service.auto_hints &&
         (value == "PreferClose" || value == "PreferSameZone" || value == "PreferSameNode");
}

void AssignTrafficHints(const ServiceView& service, const Slices& existing, SlicePlan& plan) {
  const bool same_node = service.traffic_preference == "PreferSameNode";
  auto wanted = [same_node](const Endpoint& endpoint) {
    Hints hints;
    if (endpoint.zone) hints.zones.push_back(*endpoint.zone);
    if (same_node && endpoint.node_name) hints.nodes.push_back(*endpoint.node_name);
    return hints;
  };
  Revise(
      existing, plan,
      [&](const Endpoint& endpoint) {
        return endpoint.IsReady() && endpoint.hints.value_or(Hints{}) != wanted(endpoint);
      },
      [&](Endpoint& endpoint) {
        if (!endpoint.IsReady()) return;
        Hints hints = wanted(endpoint);
        if (hints == Hints{})
          endpoint.hints.reset();
        else
          endpoint.hints = std::move(hints);
      });
}

void RemoveHints(const Slices& existing, SlicePlan& plan) {
  Revise(
      existing, plan, [](const Endpoint& endpoint) { return endpoint.hints.has_value(); },
      [](Endpoint& endpoint) { endpoint.hints.reset(); });
}

}  // namespace terrarium::controllers::endpoints
