#pragma once

// The times that endpoints.kubernetes.io/last-change-trigger-time reports: when the change happened that a
// sync publishes. Mirrors TriggerTimeTracker of k8s.io/endpointslice/util, v1.36. Pure.

#include <map>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "controllers/endpoints/internal/service_pods.h"
#include "controllers/endpoints/internal/service_view.h"

namespace terrarium::controllers::endpoints {

class TriggerTimes {
 public:
  // The oldest change since the last call for that Service; of a Service that is new here, its creation.
  // nullopt: nothing has changed.
  std::optional<api::Time> Next(const ServiceView& service, const ServicePods::Pods& pods);
  void Forget(const api::ObjectName& service) { services_.erase(service); }

 private:
  struct Known {
    api::Time created{};
    std::map<std::string, api::Time> pods;  // by name
  };
  std::map<api::ObjectName, Known> services_;
};

}  // namespace terrarium::controllers::endpoints
