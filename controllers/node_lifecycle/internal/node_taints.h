#pragma once

// The taints and labels that a node should have. Pure.

#include <optional>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/node_lifecycle/internal/node_facts.h"

namespace terrarium::controllers {

struct TaintName {
  std::string_view key;
  std::string_view effect;
  friend bool operator==(const TaintName&, const TaintName&) = default;
};

struct TaintChange {
  std::vector<TaintName> add;
  std::vector<TaintName> remove;
};

// NoSchedule follows the node's conditions and its cordon.
TaintChange NoScheduleChange(const api::Json& node);
// NoExecute follows Ready alone: not-ready for False, unreachable for Unknown, never both, none when it is
// True.
TaintChange NoExecuteChange(Ready ready);

// The patch that makes the change, with the resourceVersion of `node`; nullopt: nothing to change.
std::optional<api::Json> TaintPatch(const api::Json& node, const TaintChange& change, api::Time now);

// The patch that copies the labels for OS and architecture to their deprecated names. nullopt: nothing to
// change.
std::optional<api::Json> LabelPatch(const api::Json& node);

}  // namespace terrarium::controllers
