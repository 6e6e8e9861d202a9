#pragma once

// Watches Endpoints, Services and EndpointSlices, and keeps slices that mirror Endpoints.

#include <memory>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/base/task.h"
#include "controllers/controller.h"
#include "controllers/endpoints/internal/mirrored_slices.h"
#include "controllers/endpoints/internal/slice_index.h"
#include "controllers/endpoints/internal/slice_metrics.h"
#include "controllers/endpoints/internal/slice_tracker.h"
#include "controllers/endpoints/internal/slice_writer.h"
#include "controllers/runtime/controller_loop.h"

namespace terrarium::controllers::endpoints {

class EndpointSliceMirroringController
    : public std::enable_shared_from_this<EndpointSliceMirroringController> {
 public:
  explicit EndpointSliceMirroringController(const ControllerContext& context);

  // Registers with the informers, which may outlive this controller.
  void Watch();
  void Start() { loop_.Start(); }

 private:
  void EndpointsChanged(const api::Object* before, const api::Object* after);
  void ServiceChanged(const api::Object* before, const api::Object* after);
  void SliceChanged(const ObjectPtr& before, const ObjectPtr& after);

  api::Task<ReconcileResult> Sync(ObjectName name);
  api::Task<ReconcileResult> Mirror(ObjectPtr endpoints);
  // Deletes all mirrored slices of that name.
  api::Task<ReconcileResult> Clean(ObjectName name);
  void ReportSkipped(const api::Object& endpoints, const MirrorPlan& plan);

  ControllerContext context_;
  Informer& endpoints_;
  Informer& services_;
  Informer& slices_;
  SliceIndex index_;
  SliceTracker tracker_;
  SliceMetrics metrics_;
  SliceWriter writer_;
  ControllerLoop loop_;  // last member: its reconciles use all of the above
};

}  // namespace terrarium::controllers::endpoints
