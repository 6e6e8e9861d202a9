#include "controllers/endpoints/endpoint_slice_mirroring_controller.h"

#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "controllers/endpoints/internal/endpoint_slice_mirroring_controller.h"
#include "controllers/endpoints/internal/handlers.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Task;
using namespace std::chrono_literals;

constexpr const char* kName = "endpointslice-mirroring-controller";
constexpr const char* kComponent = "endpoint-slice-mirroring-controller";

SliceOwner OwnerOf(const EndpointsView& view) {
  return {.name = view.object->name(),
          .resource = "endpoints",
          .kind = "Endpoints",
          .reference = ControllerReference(*view.object, "v1", "Endpoints"),
          .annotations = MirroredAnnotations(view)};
}

}  // namespace

EndpointSliceMirroringController::EndpointSliceMirroringController(const ControllerContext& context)
    : context_(context),
      endpoints_(context.informers.For("endpoints")),
      services_(context.informers.For("services")),
      slices_(context.informers.For("endpointslices")),
      index_(kMirroringManager),
      metrics_(context.metrics, SliceMetrics::Controller::kMirroring),
      writer_(context, slices_, tracker_, metrics_, kName),
      loop_(context.env, context.metrics,
            LoopOptions{.name = "endpoint_slice_mirroring",
                        .workers = 5,
                        .retry = {.base = 1s, .most = 100s},
                        .retries_max = 15},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void EndpointSliceMirroringController::Watch() {
  using Self = EndpointSliceMirroringController;
  const std::weak_ptr<Self> weak = weak_from_this();
  endpoints_.AddHandler(HandlerOf(weak, [](Self& self, const ObjectPtr& before, const ObjectPtr& after) {
    self.EndpointsChanged(before.get(), after.get());
  }));
  services_.AddHandler(HandlerOf(weak, [](Self& self, const ObjectPtr& before, const ObjectPtr& after) {
    self.ServiceChanged(before.get(), after.get());
  }));
  slices_.AddHandler(HandlerOf(weak, [](Self& self, const ObjectPtr& before, const ObjectPtr& after) {
    self.SliceChanged(before, after);
  }));
}

void EndpointSliceMirroringController::EndpointsChanged(const api::Object* before, const api::Object* after) {
  const bool was_mirrored = before != nullptr && IsMirrored(*before);
  if (was_mirrored || (after != nullptr && IsMirrored(*after)))
    loop_.queue().Add((after != nullptr ? after : before)->name());
}

void EndpointSliceMirroringController::ServiceChanged(const api::Object* before, const api::Object* after) {
  const bool without_selector = !SelectorOf(after != nullptr ? *after : *before);
  const bool changed =
      before != nullptr && after != nullptr ? without_selector != !SelectorOf(*before) : without_selector;
  if (changed) loop_.queue().Add((after != nullptr ? after : before)->name());
}

void EndpointSliceMirroringController::SliceChanged(const ObjectPtr& before, const ObjectPtr& after) {
  index_.Follow(before, after);
  for (const ObjectName& service : AffectedServices(tracker_, kMirroringManager, before, after))
    loop_.queue().AddAfter(service, api::Duration::zero());
}

Task<ReconcileResult> EndpointSliceMirroringController::Sync(ObjectName name) {
  const api::Time start = context_.env.clock.Now();
  const ObjectPtr endpoints = endpoints_.Get(name);
  const ObjectPtr service = services_.Get(name);
  const bool mirrors =
      endpoints != nullptr && IsMirrored(*endpoints) && service != nullptr && !SelectorOf(*service);
  Task<ReconcileResult> syncing = mirrors ? Mirror(endpoints) : Clean(name);
  ReconcileResult synced = co_await std::move(syncing);
  metrics_.SyncTook(context_.env.clock.Now() - start);
  co_return synced;
}

Task<ReconcileResult> EndpointSliceMirroringController::Mirror(ObjectPtr endpoints) {
  const ObjectName& name = endpoints->name();
  const Slices existing = index_.Of(name);
  if (tracker_.IsStale(name, existing))
    co_return api::MakeStatus(409, api::reason::kConflict, "EndpointSlice informer cache is out of date");
  const EndpointsView view = ReadEndpointsView(endpoints);
  MirrorPlan plan = PlanMirror(view, existing);
  ReportSkipped(*endpoints, plan);
  metrics_.EndpointsChanged(plan.slices);
  metrics_.SetUsage(name, plan.usage);
  for (const SlicePtr& slice : UnchangedBy(plan.slices, existing))
    if (!tracker_.Has(name, slice->uid)) tracker_.Written(name, slice->uid, slice->generation);
  ReplaceRemoved(plan.slices, [](const Slice&) { return true; });
  SliceWriter::Request request{
      .plan = std::move(plan.slices), .owner = OwnerOf(view), .may_create = !endpoints->header().deleting};
  Task<api::Result<void>> writing = writer_.Write(std::move(request));
  const api::Result<void> written = co_await std::move(writing);
  if (!written) co_return written.status();
  co_return Reconciled::Done();
}

Task<ReconcileResult> EndpointSliceMirroringController::Clean(ObjectName name) {
  tracker_.Forget(name);
  metrics_.RemoveUsage(name);
  const Slices slices = index_.Of(name);
  const SliceOwner owner{.name = name, .resource = "endpoints", .kind = "Endpoints", .reference = {}};
  std::vector<std::string> errors;
  for (const SlicePtr& slice : slices) {
    Task<api::Result<void>> deleting =
        writer_.Delete(slice, owner, "there are no Endpoints to mirror, or no Service without a selector");
    const api::Result<void> deleted = co_await std::move(deleting);
    if (!deleted) errors.push_back(deleted.status().message);
  }
  tracker_.Forget(name);
  if (errors.empty()) co_return Reconciled::Done();
  co_return api::GenericServerError("error(s) deleting " + std::to_string(errors.size()) + "/" +
                                    std::to_string(slices.size()) + " EndpointSlices for " + name.String() +
                                    " Endpoints, including: " + errors[0]);
}

void EndpointSliceMirroringController::ReportSkipped(const api::Object& endpoints, const MirrorPlan& plan) {
  metrics_.AddressesSkipped(plan.skipped);
  auto record = [&](std::string_view reason, std::string message) {
    context_.recorder.Record({.component = kComponent}, ReferenceTo(endpoints, "v1", "Endpoints"), kWarning,
                             reason, std::move(message));
  };
  if (plan.invalid > 0)
    record("InvalidIPAddress", "Skipped " + std::to_string(plan.invalid) +
                                   " invalid IP addresses when mirroring to EndpointSlices");
  if (plan.skipped > plan.invalid)
    record("TooManyAddressesToMirror",
           "A max of " + std::to_string(kMirroredPerSubset) +
               " addresses can be mirrored to EndpointSlices per Endpoints subset. " +
               std::to_string(plan.skipped) + " addresses were skipped");
}

}  // namespace terrarium::controllers::endpoints

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeEndpointSliceMirroringController(const ControllerContext& context) {
  return std::make_unique<SharedController<endpoints::EndpointSliceMirroringController>>(context);
}

}  // namespace terrarium::controllers
