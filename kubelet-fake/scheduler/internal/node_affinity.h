#pragma once

// Which nodes a pod may or would rather run on: spec.nodeSelector and spec.affinity.nodeAffinity.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/selector/label_selector.h"

namespace terrarium::kubelet_fake::scheduling {

// All requirements hold. A term without any matches nothing.
struct NodeTerm {
  std::vector<api::LabelRequirement> labels;
  std::vector<api::LabelRequirement> names;  // on metadata.name, the only field there is

  bool Matches(const api::ObjectHeader& node) const;
};

struct NodeAffinity {
  struct Preferred {
    std::int64_t weight = 0;
    NodeTerm term;
  };

  std::vector<std::pair<std::string, std::string>> selector;
  std::optional<std::vector<NodeTerm>> required;  // one of them holds
  std::vector<Preferred> preferred;
  // Set when every required term names its nodes: no others need to be looked at. Sorted; empty when the names of each
  // term contradict one another.
  std::optional<std::vector<std::string>> node_names;

  bool IsEmpty() const { return selector.empty() && !required; }
  bool Matches(const api::ObjectHeader& node) const;
  // The weights of the preferred terms that the node matches.
  std::int64_t Score(const api::ObjectHeader& node) const;
};

NodeAffinity NodeAffinityOf(const api::Json& pod_spec);

}  // namespace terrarium::kubelet_fake::scheduling
