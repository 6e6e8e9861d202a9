#include "testbed/control_plane/component_change.h"

#include "api/base/errors.h"

namespace terrarium::testbed {
namespace {

const api::GroupResource kResource = {"terrarium.dev", "components"};

}  // namespace

api::Json ComponentInfo::ToJson() const {
  api::Json values = api::Json::object();
  for (const auto& [gate, on] : gates.values()) values[gate] = on;
  return {{"name", name},
          {"state", running ? "running" : "stopped"},
          {"synced", synced},
          {"restarts", starts > 0 ? starts - 1 : 0},
          {"since", api::FormatMicroTime(since)},
          {"featureGates", std::move(values)}};
}

api::Status UnknownComponent(std::string_view name) { return api::NotFound(kResource, name); }

api::Result<ChangePlan> PlanChange(const ComponentInfo& now, const ComponentChange& change) {
  using Action = ComponentChange::Action;
  ChangePlan plan;
  plan.gates = now.gates;
  if (change.action == Action::kSetGates) {
    auto gates = now.gates.With(change.gates);
    if (!gates) return gates.status();
    const bool same = *gates == now.gates;
    plan.gates = *gates;
    plan.ends = plan.starts = now.running && !same;
    return plan;
  }
  if (change.action == Action::kStart) {
    if (now.running) return api::Conflict(kResource, now.name, "it is running already");
  } else if (!now.running) {
    return api::Conflict(kResource, now.name, "it is not running");
  }
  plan.crash = change.action == Action::kCrash;
  plan.ends = change.action != Action::kStart;
  plan.starts = change.action == Action::kStart || change.action == Action::kRestart;
  return plan;
}

}  // namespace terrarium::testbed
