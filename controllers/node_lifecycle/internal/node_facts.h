#pragma once

// The facts that the controller caches of a node, so that the periodic check of all nodes parses none.

#include <string>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::controllers {

enum class Ready { kNone, kTrue, kFalse, kUnknown };

struct NodeFacts {
  api::Time created{};
  Ready ready = Ready::kNone;
  std::string heartbeat;            // lastHeartbeatTime of Ready, unparsed
  std::string zone;                 // region and zone
  bool counts_for_zone = true;      // not excluded from disruption checks
  bool evicts_not_ready = false;    // has not-ready:NoExecute
  bool evicts_unreachable = false;  // has unreachable:NoExecute
};

NodeFacts FactsOf(const api::Json& node);

}  // namespace terrarium::controllers
