#pragma once

// The pods that each Service selects, kept up to date on every pod event, so that a sync visits only the pods
// of its Service. Single-threaded.

#include <map>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/selector/label_selector.h"
#include "controllers/endpoints/internal/pod_facts.h"
#include "controllers/runtime/selector_index.h"

namespace terrarium::controllers::endpoints {

class ServicePods {
 public:
  using Pods = std::map<std::string, PodFactsPtr>;  // by name

  bool Has(const api::ObjectName& service, const api::LabelSelector& selector) const;
  // Adds a Service, or replaces its selector. `candidates`: the pods of its namespace.
  void Set(const api::ObjectName& service, const api::LabelSelector& selector,
           const std::vector<api::ObjectPtr>& candidates);
  void Remove(const api::ObjectName& service);

  // Follows a change of a pod: `before` is nullptr for a new one, `after` for a deleted one. Returns the
  // Services whose endpoints it may change, by name.
  std::vector<api::ObjectName> Follow(const api::Object* before, const api::Object* after);

  // Empty for an unknown Service.
  const Pods& PodsOf(const api::ObjectName& service) const;

 private:
  struct Service {
    api::LabelSelector selector;
    Pods pods;
  };

  SelectorIndex selectors_;
  std::map<api::ObjectName, Service> services_;
};

}  // namespace terrarium::controllers::endpoints
