#pragma once

// The pods that each budget selects, counted on every pod event, so that a sync of a budget does not visit
// its pods. Pure, single-threaded.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/object_name.h"
#include "api/selector/label_selector.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::disruption {

using api::ObjectName;

// The facts of a pod that budgets depend on.
struct PodFacts {
  std::string name;
  bool ready = false;
  bool deleting = false;
  std::shared_ptr<const OwnerReference> controller;

  bool Healthy() const { return ready && !deleting; }
};
PodFacts FactsOf(const api::Object& pod);

// The pods of one budget.
class SelectedPods {
 public:
  void Put(PodFacts pod);
  void Remove(const std::string& name);

  const PodFacts* Find(const std::string& name) const;
  int size() const { return static_cast<int>(pods_.size()); }
  int healthy() const { return healthy_; }
  // The distinct controllers of the pods, by uid, each with the names of its pods.
  struct Controlled {
    OwnerReference controller;
    std::set<std::string> pods;
  };
  const std::map<std::string, Controlled>& controllers() const { return controllers_; }
  const std::set<std::string>& unmanaged() const { return unmanaged_; }  // names of pods without a controller

 private:
  std::map<std::string, PodFacts> pods_;
  std::map<std::string, Controlled> controllers_;
  std::set<std::string> unmanaged_;
  int healthy_ = 0;
};

class BudgetIndex {
 public:
  // Adds a budget without pods, or replaces the one of that name.
  void SetBudget(const ObjectName& name, api::LabelSelector selector);
  void RemoveBudget(const ObjectName& name);
  // The budgets that select a pod with these labels, by name.
  std::vector<ObjectName> Matching(const api::ObjectHeader& pod) const;
  // nullptr when there is no such budget.
  SelectedPods* PodsOf(const ObjectName& budget);
  bool empty() const { return namespaces_.empty(); }

 private:
  struct Budget {
    api::LabelSelector selector;
    SelectedPods pods;
  };
  using Label = std::pair<std::string, std::string>;
  struct Namespace {
    std::map<std::string, Budget> budgets;
    // Budgets by one label that each of their pods must have, and the budgets without such a label.
    std::map<Label, std::set<std::string>> by_label;
    std::set<std::string> by_nothing;
  };
  // A label that selected pods must have; nullopt when the selector names none.
  static std::optional<Label> RequiredLabel(const api::LabelSelector& selector);

  std::map<std::string, Namespace> namespaces_;
};

}  // namespace terrarium::controllers::disruption
