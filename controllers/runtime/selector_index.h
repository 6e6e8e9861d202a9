#pragma once

// Finds the label selectors that match an object without evaluating all of them. Pure, single-threaded.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/object_name.h"
#include "api/selector/label_selector.h"

namespace terrarium::controllers {

class SelectorIndex {
 public:
  // Adds or replaces a selector. It selects objects of its own namespace.
  void Set(const api::ObjectName& name, api::LabelSelector selector);
  void Remove(const api::ObjectName& name);
  // The names of the selectors that select an object with that header, sorted.
  std::vector<api::ObjectName> Matching(const api::ObjectHeader& header) const;

 private:
  using Label = std::pair<std::string, std::string>;
  struct Namespace {
    std::map<std::string, api::LabelSelector> selectors;
    // Selectors by a label that they require, and those that require none.
    std::map<Label, std::set<std::string>> by_label;
    std::set<std::string> by_nothing;
  };
  static std::optional<Label> RequiredLabel(const api::LabelSelector& selector);

  std::map<std::string, Namespace> namespaces_;
};

}  // namespace terrarium::controllers
