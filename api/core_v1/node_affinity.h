#pragma once

// The nodes on which a pod may run, and those it prefers: spec.nodeSelector and spec.affinity.nodeAffinity.
// The scheduler and the DaemonSet controller read them.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/selector/label_selector.h"

namespace terrarium::api {

// A node matches if all requirements hold. A term without requirements matches no node.
struct NodeTerm {
  std::vector<LabelRequirement> labels;
  std::vector<LabelRequirement> names;  // on metadata.name, the only supported field

  bool Matches(const ObjectHeader& node) const;
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
  bool Matches(const ObjectHeader& node) const;
  // The sum of the weights of the preferred terms that the node matches.
  std::int64_t Score(const ObjectHeader& node) const;
};

NodeAffinity NodeAffinityOf(const Json& pod_spec);

// The terms of a NodeSelector, as in a PersistentVolume's spec.nodeAffinity.required.
std::vector<NodeTerm> NodeTermsOf(const Json& node_selector);

}  // namespace terrarium::api
