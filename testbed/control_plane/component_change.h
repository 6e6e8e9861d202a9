#pragma once

// Changes of a running control plane's components, and the state of a component.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/base/feature_gates.h"
#include "api/base/status.h"
#include "api/json.h"

namespace terrarium::testbed {

namespace component {
inline constexpr std::string_view kApiServer = "apiserver";
inline constexpr std::string_view kControllerManager = "controller-manager";
inline constexpr std::string_view kKubelet = "kubelet";
inline constexpr std::string_view kScheduler = "scheduler";
}  // namespace component

struct ComponentInfo {
  std::string name;
  bool running = false;
  bool synced = false;  // its informers have synced, and it works
  int starts = 0;       // how often it was started, including the first time
  api::Time since{};    // when it was last started or ended
  api::FeatureGates gates;

  api::Json ToJson() const;
};

struct ComponentChange {
  enum class Action {
    kStart,
    kStop,      // graceful: waits for the responses to requests already sent
    kRestart,   // a stop and a start
    kCrash,     // abrupt; the component stays down until it is started
    kSetGates,  // a restart with other gates; a stopped component gets them at its next start
  };
  Action action = Action::kRestart;
  std::map<std::string, bool> gates = {};  // for kSetGates: the gates that change
};

// The new state. 404 for an unknown component, 409 for a change that its state does not allow (starting a
// running component), 400 for gates that contradict each other.
using ChangeResult = api::Result<ComponentInfo>;
using ChangeDone = std::function<void(ChangeResult)>;

// The steps that a change consists of.
struct ChangePlan {
  bool ends = false;
  bool crash = false;
  bool starts = false;
  api::FeatureGates gates;
};
// Validates a change of a component in state `now`.
api::Result<ChangePlan> PlanChange(const ComponentInfo& now, const ComponentChange& change);
api::Status UnknownComponent(std::string_view name);

}  // namespace terrarium::testbed
