#pragma once

// The PodDisruptionBudgets that preemption respects as far as it can.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/selector/label_selector.h"
#include "kubelet-fake/scheduler/internal/pod_record.h"

namespace terrarium::kubelet_fake::scheduling {

class DisruptionBudgets {
 public:
  void Set(const api::ObjectPtr& budget);
  void Remove(const api::ObjectName& name);

  // For each pod, whether its deletion after that of the pods before it would violate a budget.
  std::vector<bool> Violating(const std::vector<PodRecord*>& pods) const;

 private:
  struct Budget {
    api::LabelSelector selector;
    std::int64_t allowed = 0;
    std::set<std::string> disrupted;  // pods whose eviction was allowed and already counts
  };
  // By namespace, then name. Budgets that select nothing are left out.
  std::map<std::string, std::map<std::string, Budget>> namespaces_;
};

}  // namespace terrarium::kubelet_fake::scheduling
