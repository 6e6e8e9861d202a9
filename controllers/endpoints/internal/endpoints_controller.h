#pragma once

// Watches Services, pods and Endpoints, and keeps the Endpoints of each Service with a selector.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/endpoints/internal/service_pods.h"
#include "controllers/endpoints/internal/service_view.h"
#include "controllers/endpoints/internal/subsets.h"
#include "controllers/endpoints/internal/trigger_times.h"
#include "controllers/runtime/controller_loop.h"

namespace terrarium::controllers::endpoints {

class EndpointsController : public std::enable_shared_from_this<EndpointsController> {
 public:
  explicit EndpointsController(const ControllerContext& context);

  // Registers with the informers, which may outlive this controller.
  void Watch();
  void Start();

 private:
  void ServiceChanged(const api::Object* before, const api::Object* after);
  void PodChanged(const api::Object* before, const api::Object* after);

  api::Task<ReconcileResult> Sync(ObjectName name);
  // Deletes the Endpoints of a Service that no longer exists.
  api::Task<ReconcileResult> DeleteLeft(ObjectName name);
  // Writes the Endpoints if they differ from `current`; nullptr: there are none.
  api::Task<ReconcileResult> Write(std::shared_ptr<const ServiceView> view, ObjectPtr current,
                                   std::optional<api::Time> trigger);
  ReconcileResult Failed(const ServiceView& view, const ObjectPtr& current, const api::Status& status);
  void Explain(std::string_view action, const ObjectName& name, std::string rule, api::Json saw);

  ControllerContext context_;
  Informer& services_;
  Informer& pods_;
  Informer& endpoints_;
  ServicePods selected_;
  TriggerTimes triggers_;
  std::map<ObjectName, std::int64_t> replaced_;  // the revision that the last own update replaced
  ControllerLoop loop_;                          // last member: its reconciles use all of the above
};

}  // namespace terrarium::controllers::endpoints
