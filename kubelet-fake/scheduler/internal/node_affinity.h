#pragma once

// The nodes on which a pod may run, and those it prefers: spec.nodeSelector and spec.affinity.nodeAffinity.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/selector/label_selector.h"

namespace terrarium::kubelet_fake::scheduling {

// A node matches if all requirements hold. A term without requirements matches no node.
struct NodeTerm {
  std::vector<api::LabelRequirement> labels;
  std::vector<api::LabelRequirement> names;  // on metadata.name, the only supported field

  bool Matches(const api::ObjectHeader& node) const;
};

struct NodeAffinity {
  struct Preferred {
    std::int64_t weight = 0;
    NodeTerm term;
  };

  std::vector<std::pair<std::string, std::string>> selector;
  std::optional<std::vector<NodeTerm>> required;  // at least one of them must match
  std::vector<Preferred> preferred;
  // Set when every required term names its nodes: the scheduler need not consider any others. Sorted; empty
  // when the names within each term contradict one another.
  std::optional<std::vector<std::string>> node_names;

  bool IsEmpty() const { return selector.empty() && !required; }
  bool Matches(const api::ObjectHeader& node) const;
  // The sum of the weights of the preferred terms that the node matches.
  std::int64_t Score(const api::ObjectHeader& node) const;
};

NodeAffinity NodeAffinityOf(const api::Json& pod_spec);

}  // namespace terrarium::kubelet_fake::scheduling
