#include "controllers/endpoints/endpoint_slice_controller.h"

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/base/executor.h"
#include "controllers/endpoints/internal/endpoint_slice_controller.h"
#include "controllers/endpoints/internal/handlers.h"
#include "controllers/endpoints/internal/traffic_hints.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Task;
using namespace std::chrono_literals;

constexpr const char* kName = "endpointslice-controller";
constexpr const char* kComponent = "endpoint-slice-controller";
constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";
// The time in which foreign changes of several slices make one sync.
constexpr api::Duration kSliceDelay = 1s;

SliceOwner OwnerOf(const ServiceView& view) {
  return {.name = view.name,
          .resource = "services",
          .kind = "Service",
          .reference = ControllerReference(*view.object, "v1", "Service")};
}

std::string ZoneOf(const api::Object& node) {
  const std::string* zone = api::FindLabel(node.header(), kZoneLabel);
  return zone == nullptr ? "" : *zone;
}

}  // namespace

EndpointSliceController::EndpointSliceController(const ControllerContext& context)
    : context_(context),
      services_(context.informers.For("services")),
      pods_(context.informers.For("pods")),
      nodes_(context.informers.For("nodes")),
      slices_(context.informers.For("endpointslices")),
      index_(kSliceManager),
      metrics_(context.metrics, SliceMetrics::Controller::kSlices),
      writer_(context, slices_, tracker_, metrics_, kName),
      loop_(context.env, context.metrics,
            LoopOptions{.name = "endpoint_slice",
                        .workers = 5,
                        .retry = {.base = 1s, .most = 1000s},
                        .retries_max = 15},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void EndpointSliceController::Watch() {
  const std::weak_ptr<EndpointSliceController> weak = weak_from_this();
  services_.AddHandler(
      HandlerOf(weak, [](EndpointSliceController& self, const ObjectPtr& before, const ObjectPtr& after) {
        self.ServiceChanged(before.get(), after.get());
      }));
  pods_.AddHandler(
      HandlerOf(weak, [](EndpointSliceController& self, const ObjectPtr& before, const ObjectPtr& after) {
        self.PodChanged(before.get(), after.get());
      }));
  nodes_.AddHandler(
      HandlerOf(weak, [](EndpointSliceController& self, const ObjectPtr& before, const ObjectPtr& after) {
        self.NodeChanged(before.get(), after.get());
      }));
  slices_.AddHandler(HandlerOf(weak, [](EndpointSliceController& self, const ObjectPtr& before,
                                        const ObjectPtr& after) { self.SliceChanged(before, after); }));
}

void EndpointSliceController::ServiceChanged(const api::Object* before, const api::Object* after) {
  FollowSelector(selected_, before, after, pods_);
  loop_.queue().Add((after != nullptr ? after : before)->name());
}

void EndpointSliceController::PodChanged(const api::Object* before, const api::Object* after) {
  for (const ObjectName& service : selected_.Follow(before, after))
    loop_.queue().AddAfter(service, api::Duration::zero());
}

void EndpointSliceController::NodeChanged(const api::Object* before, const api::Object* after) {
  zones_stale_ = true;
  if (hints_.empty() || zone_check_posted_) return;
  if (before != nullptr && after != nullptr && ZoneOf(*before) == ZoneOf(*after) &&
      IsNodeReady(*before) == IsNodeReady(*after))
    return;
  zone_check_posted_ = true;
  context_.env.executor.Post([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->CheckZones();
  });
}

void EndpointSliceController::RefreshZones() {
  if (!zones_stale_) return;
  hints_.SetRatios(ZoneRatiosOf(nodes_.List()));
  zones_stale_ = false;
}

void EndpointSliceController::CheckZones() {
  zone_check_posted_ = false;
  RefreshZones();
  for (const ObjectName& service : hints_.Overloaded()) loop_.queue().Add(service);
}

void EndpointSliceController::SliceChanged(const ObjectPtr& before, const ObjectPtr& after) {
  index_.Follow(before, after);
  for (const ObjectName& service : AffectedServices(tracker_, kSliceManager, before, after))
    loop_.queue().AddAfter(service, kSliceDelay);
}

Task<ReconcileResult> EndpointSliceController::Sync(ObjectName name) {
  const ObjectPtr service = services_.Get(name);
  if (service == nullptr) {
    triggers_.Forget(name);
    metrics_.RemoveUsage(name);
    tracker_.Forget(name);
    hints_.Forget(name);
  }
  if (service == nullptr || !SelectorOf(*service)) {
    metrics_.Synced("success");
    co_return Reconciled::Done();
  }
  auto sync = std::make_shared<SyncState>();
  sync->view = ReadServiceView(service);
  if (sync->view.is_external_name) {
    metrics_.Synced("success");
    co_return Reconciled::Done();
  }
  sync->slices = index_.Of(name);
  std::erase_if(sync->slices, [](const SlicePtr& slice) { return slice->deleting; });
  if (tracker_.IsStale(name, sync->slices)) {
    metrics_.Synced("stale");
    co_return api::MakeStatus(409, api::reason::kConflict, "EndpointSlice informer cache is out of date");
  }
  sync->trigger = triggers_.Next(sync->view, selected_.PodsOf(name));
  const std::vector<std::string> address_types = AddressTypesOf(sync->view);
  for (const std::string& address_type : address_types) {
    Task<void> syncing = SyncAddressType(sync, address_type);
    co_await std::move(syncing);
  }
  Task<void> deleting = DeleteOtherTypes(sync, address_types);
  co_await std::move(deleting);
  if (sync->errors.empty()) {
    metrics_.Synced("success");
    co_return Reconciled::Done();
  }
  metrics_.Synced("error");
  const std::string error = AggregateText(sync->errors);
  RecordEvent(*service, kWarning, "FailedToUpdateEndpointSlices",
              "Error updating Endpoint Slices for Service " + name.String() + ": " + error);
  if (sync->conflict) co_return api::MakeStatus(409, api::reason::kConflict, error);
  co_return api::GenericServerError(error);
}

Task<void> EndpointSliceController::SyncAddressType(SyncStatePtr sync, std::string address_type) {
  const ServiceView& view = sync->view;
  Slices existing = sync->slices;
  std::erase_if(existing, [&](const SlicePtr& slice) { return slice->address_type != address_type; });
  auto find_node = [this](const std::string& name) -> std::optional<NodeZone> {
    const ObjectPtr node = nodes_.Get({"", name});
    return node == nullptr ? std::nullopt : std::optional(NodeZone{ZoneOf(*node)});
  };
  ServicePlan plan = PlanSlices(view, selected_.PodsOf(view.name), find_node, existing, address_type);
  for (const std::string& pod : plan.without_node)
    sync->errors.push_back("skipping Pod " + pod + " for Service " + view.name.String() + ": Node " +
                           selected_.PodsOf(view.name).at(pod)->node_name + " Not Found");
  metrics_.EndpointsChanged(plan.slices);
  metrics_.SetUsage(view.name, plan.usage);
  const HintEvents events = AssignHints(view, address_type, existing, plan.slices);
  const std::string& uid = view.object->header().uid;
  ReplaceRemoved(plan.slices, [&](const Slice& slice) { return slice.IsOwnedBy(uid, "Service"); });
  const std::size_t changed =
      plan.slices.create.size() + plan.slices.update.size() + plan.slices.remove.size();
  SliceWriter::Request request{.plan = std::move(plan.slices),
                               .owner = OwnerOf(view),
                               .may_create = !view.object->header().deleting,
                               .reports_trigger = true,
                               .trigger = sync->trigger};
  Task<api::Result<void>> writing = writer_.Write(std::move(request));
  const api::Result<void> written = co_await std::move(writing);
  if (written) {
    metrics_.SlicesChanged(view.auto_hints, UsesTrafficDistribution(view) ? view.traffic_preference : "",
                           changed);
  } else {
    sync->errors.push_back(written.status().message);
    sync->conflict = sync->conflict || written.status().Is(api::reason::kConflict);
  }
  for (const HintEvent& event : events) RecordEvent(*view.object, event.type, event.reason, event.message);
}

Task<void> EndpointSliceController::DeleteOtherTypes(SyncStatePtr sync,
                                                     std::vector<std::string> address_types) {
  for (const SlicePtr& slice : sync->slices) {
    if (std::find(address_types.begin(), address_types.end(), slice->address_type) != address_types.end())
      continue;
    hints_.Remove(sync->view.name, slice->address_type);
    Task<api::Result<void>> deleting =
        writer_.Delete(slice, OwnerOf(sync->view), "the Service has no addresses of its type");
    const api::Result<void> deleted = co_await std::move(deleting);
    if (!deleted)
      sync->errors.push_back("error deleting " + slice->name + " EndpointSlice for Service " +
                             sync->view.name.String() + ": " + deleted.status().message);
  }
}

HintEvents EndpointSliceController::AssignHints(const ServiceView& view, const std::string& address_type,
                                                const Slices& existing, SlicePlan& plan) {
  HintEvents events;
  if (view.auto_hints) {
    RefreshZones();
    events = hints_.Assign(view.name, address_type, existing, plan);
  } else {
    if (hints_.IsAssigned(view.name))
      events.push_back({kWarning, "TopologyAwareHintsDisabled",
                        "Topology Aware Hints has been disabled, addressType: " + address_type});
    hints_.Remove(view.name, address_type);
  }
  if (UsesTrafficDistribution(view)) {
    metrics_.SetTrafficDistribution(view.name, view.traffic_preference);
    AssignTrafficHints(view, existing, plan);
  } else {
    metrics_.SetTrafficDistribution(view.name, "");
    if (!view.auto_hints) RemoveHints(existing, plan);
  }
  return events;
}

void EndpointSliceController::RecordEvent(const api::Object& service, std::string_view type,
                                          std::string_view reason, std::string message) {
  context_.recorder.Record({.component = kComponent}, ReferenceTo(service, "v1", "Service"), type, reason,
                           std::move(message));
}

}  // namespace terrarium::controllers::endpoints

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeEndpointSliceController(const ControllerContext& context) {
  return std::make_unique<SharedController<endpoints::EndpointSliceController>>(context);
}

}  // namespace terrarium::controllers
