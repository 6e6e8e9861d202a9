#pragma once

// Which of many label selectors select an object, without asking each of them. Pure, single-threaded.

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
  // A selector of the same name is replaced. It selects objects of its own namespace.
  void Set(const api::ObjectName& name, api::LabelSelector selector);
  void Remove(const api::ObjectName& name);
  // The names of the selectors that select an object with that header, sorted.
  std::vector<api::ObjectName> Matching(const api::ObjectHeader& header) const;

 private:
  using Label = std::pair<std::string, std::string>;
  struct Namespace {
    std::map<std::string, api::LabelSelector> selectors;
    // Names by a label that everything they select has, and those of which no such label is known.
    std::map<Label, std::set<std::string>> by_label;
    std::set<std::string> by_nothing;
  };
  static std::optional<Label> RequiredLabel(const api::LabelSelector& selector);

  std::map<std::string, Namespace> namespaces_;
};

}  // namespace terrarium::controllers
