#pragma once

// Which taints and labels a node should have, as documents. Pure.

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

// The patch by which the node gets the change, bound to the version it was made from; nullopt: the node is so
// already.
std::optional<api::Json> TaintPatch(const api::Json& node, const TaintChange& change, api::Time now);

// The old names of the labels for system and architecture follow the new ones. nullopt: they do.
std::optional<api::Json> LabelPatch(const api::Json& node);

}  // namespace terrarium::controllers
