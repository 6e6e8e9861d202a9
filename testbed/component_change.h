#pragma once

// What can be done to a component of a plane while it runs, and what is known of one.

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
  bool synced = false;   // it has seen everything there was when it started, and works
  int starts = 0;        // how often it was started, the first time included
  api::Time since{};     // when it was last started or ended
  api::FeatureGates gates;

  api::Json ToJson() const;
};

struct ComponentChange {
  enum class Action {
    kStart,
    kStop,     // in good order: what it has sent is answered first
    kRestart,  // a stop and a start
    kCrash,    // without a goodbye, wherever it is; down until it is started
    kSetGates,  // a restart with other gates; one that is down gets them when it starts
  };
  Action action = Action::kRestart;
  std::map<std::string, bool> gates = {};  // of kSetGates: those that change
};

// What became of it; 404 for a component that is not there, 409 for a change that is none (a start of one that runs),
// 400 for gates that do not go together.
using ChangeResult = api::Result<ComponentInfo>;
using ChangeDone = std::function<void(ChangeResult)>;

// What a change comes to.
struct ChangePlan {
  bool ends = false;
  bool crash = false;
  bool starts = false;
  api::FeatureGates gates;
};
// Checks a change of a component that stands like `now`.
api::Result<ChangePlan> PlanChange(const ComponentInfo& now, const ComponentChange& change);
api::Status UnknownComponent(std::string_view name);

}  // namespace terrarium::testbed
