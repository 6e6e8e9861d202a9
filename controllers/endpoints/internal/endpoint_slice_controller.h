#pragma once

// Watches Services, pods, nodes and EndpointSlices, and keeps the slices of each Service with a selector. The
// decisions are in the other headers of this folder.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "controllers/controller.h"
#include "controllers/endpoints/internal/service_pods.h"
#include "controllers/endpoints/internal/service_slices.h"
#include "controllers/endpoints/internal/service_view.h"
#include "controllers/endpoints/internal/slice_index.h"
#include "controllers/endpoints/internal/slice_metrics.h"
#include "controllers/endpoints/internal/slice_tracker.h"
#include "controllers/endpoints/internal/slice_writer.h"
#include "controllers/endpoints/internal/trigger_times.h"
#include "controllers/endpoints/internal/zone_hints.h"
#include "controllers/runtime/controller_loop.h"

namespace terrarium::controllers::endpoints {

class EndpointSliceController : public std::enable_shared_from_this<EndpointSliceController> {
 public:
  explicit EndpointSliceController(const ControllerContext& context);

  // Registers with the informers, which may outlive this controller.
  void Watch();
  void Start() { loop_.Start(); }

 private:
  // One sync of a Service. Errors of one address type do not keep the others from being synced.
  struct SyncState {
    ServiceView view;
    Slices slices;
    std::optional<api::Time> trigger;
    std::vector<std::string> errors;
    bool conflict = false;  // one of the errors is a conflict: the view was stale
  };
  using SyncStatePtr = std::shared_ptr<SyncState>;

  void ServiceChanged(const api::Object* before, const api::Object* after);
  void PodChanged(const api::Object* before, const api::Object* after);
  void NodeChanged(const api::Object* before, const api::Object* after);
  void SliceChanged(const ObjectPtr& before, const ObjectPtr& after);

  // Reads the shares of the zones, if nodes have changed since.
  void RefreshZones();
  // Syncs the Services with automatic hints whose zones have too few endpoints.
  void CheckZones();

  api::Task<ReconcileResult> Sync(ObjectName name);
  api::Task<void> SyncAddressType(SyncStatePtr sync, std::string address_type);
  api::Task<void> DeleteOtherTypes(SyncStatePtr sync, std::vector<std::string> address_types);
  // Assigns hints to the plan and returns the Events to record after it was written.
  HintEvents AssignHints(const ServiceView& view, const std::string& address_type, const Slices& existing,
                         SlicePlan& plan);
  void RecordEvent(const api::Object& service, std::string_view type, std::string_view reason,
                   std::string message);

  ControllerContext context_;
  Informer& services_;
  Informer& pods_;
  Informer& nodes_;
  Informer& slices_;
  ServicePods selected_;
  SliceIndex index_;
  SliceTracker tracker_;
  TriggerTimes triggers_;
  ZoneHints hints_;
  bool zones_stale_ = true;
  bool zone_check_posted_ = false;
  SliceMetrics metrics_;
  SliceWriter writer_;
  ControllerLoop loop_;  // last member: its reconciles use all of the above
};

}  // namespace terrarium::controllers::endpoints
