#include "controllers/endpoints/endpoints_controller.h"

#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/endpoints/internal/endpoints_controller.h"
#include "controllers/endpoints/internal/endpoints_document.h"
#include "controllers/endpoints/internal/handlers.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;
using api::Task;
using Writing = api::Awaitable<api::Client::Written>;

constexpr const char* kName = "endpoints-controller";
constexpr const char* kComponent = "endpoint-controller";

struct AddressCounts {
  std::size_t ready = 0;
  std::size_t not_ready = 0;
};
AddressCounts Count(const Subsets& subsets) {
  AddressCounts counts;
  for (const Subset& subset : subsets) {
    counts.ready += subset.ready.size();
    counts.not_ready += subset.not_ready.size();
  }
  return counts;
}

bool IsLeaderLock(const api::Object& endpoints) {
  const std::shared_ptr<const Json> document = endpoints.Document();
  return api::Find(*document, "metadata", "annotations", "control-plane.alpha.kubernetes.io/leader") !=
         nullptr;
}

}  // namespace

EndpointsController::EndpointsController(const ControllerContext& context)
    : context_(context),
      services_(context.informers.For("services")),
      pods_(context.informers.For("pods")),
      endpoints_(context.informers.For("endpoints")),
      loop_(context.env, context.metrics, LoopOptions{.name = "endpoint", .workers = 5, .retries_max = 15},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void EndpointsController::Watch() {
  const std::weak_ptr<EndpointsController> weak = weak_from_this();
  services_.AddHandler(
      HandlerOf(weak, [](EndpointsController& self, const ObjectPtr& before, const ObjectPtr& after) {
        self.ServiceChanged(before.get(), after.get());
      }));
  pods_.AddHandler(
      HandlerOf(weak, [](EndpointsController& self, const ObjectPtr& before, const ObjectPtr& after) {
        self.PodChanged(before.get(), after.get());
      }));
  EventHandler endpoints;
  endpoints.deleted = [weak](const ObjectPtr& gone) {
    if (auto self = weak.lock()) self->loop_.queue().Add(gone->name());
  };
  endpoints_.AddHandler(std::move(endpoints));
}

// Endpoints whose Service was deleted while no controller ran are found now.
void EndpointsController::Start() {
  loop_.Start();
  for (const ObjectPtr& endpoints : endpoints_.List())
    if (!IsLeaderLock(*endpoints)) loop_.queue().Add(endpoints->name());
}

void EndpointsController::ServiceChanged(const api::Object* before, const api::Object* after) {
  FollowSelector(selected_, before, after, pods_);
  loop_.queue().Add((after != nullptr ? after : before)->name());
}

void EndpointsController::PodChanged(const api::Object* before, const api::Object* after) {
  for (const ObjectName& service : selected_.Follow(before, after))
    loop_.queue().AddAfter(service, api::Duration::zero());
}

Task<ReconcileResult> EndpointsController::Sync(ObjectName name) {
  const ObjectPtr service = services_.Get(name);
  if (service == nullptr) {
    Task<ReconcileResult> deleting = DeleteLeft(name);
    ReconcileResult deleted = co_await std::move(deleting);
    co_return deleted;
  }
  if (!SelectorOf(*service)) co_return Reconciled::Done();
  auto view = std::make_shared<const ServiceView>(ReadServiceView(service));
  if (view->is_external_name) co_return Reconciled::Done();
  const std::optional<api::Time> trigger = triggers_.Next(*view, selected_.PodsOf(name));
  const ObjectPtr current = endpoints_.Get(name);
  const auto replaced = replaced_.find(name);
  const bool stale = current == nullptr
                         // DIVERGES: Kubernetes tries to create them, and records an Event when that fails.
                         ? context_.client.Get("endpoints", name).ok()
                         : replaced != replaced_.end() && replaced->second == current->revision();
  if (stale)
    co_return api::MakeStatus(409, api::reason::kConflict, "endpoints informer cache is out of date");
  Task<ReconcileResult> writing = Write(view, current, trigger);
  ReconcileResult written = co_await std::move(writing);
  co_return written;
}

Task<ReconcileResult> EndpointsController::DeleteLeft(ObjectName name) {
  if (context_.client.Get("endpoints", name).ok()) {
    Writing deleting = context_.client.Delete("endpoints", name);
    api::Client::Written deleted = co_await std::move(deleting);
    if (deleted)
      Explain("delete", name, "the Service does not exist", Json::object());
    else if (!deleted.status().Is(api::reason::kNotFound))
      co_return deleted.status();
  }
  triggers_.Forget(name);
  replaced_.erase(name);
  co_return Reconciled::Done();
}

Task<ReconcileResult> EndpointsController::Write(std::shared_ptr<const ServiceView> view, ObjectPtr current,
                                                 std::optional<api::Time> trigger) {
  const ObjectName& name = view->name;
  Subsets subsets = SubsetsFor(*view, selected_.PodsOf(name));
  const AddressCounts counts = Count(subsets);
  Json stored = current == nullptr ? Json() : current->Parse();
  if (current != nullptr && AreEndpointsCurrent(stored, subsets, *view)) co_return Reconciled::Done();
  Json document = EndpointsDocument(stored, std::move(subsets), *view, trigger);
  if (document == stored) co_return Reconciled::Done();
  Writing writing = current == nullptr ? context_.client.Create("endpoints", name.ns, std::move(document))
                                       : context_.client.Update("endpoints", std::move(document));
  api::Client::Written written = co_await std::move(writing);
  if (!written) co_return Failed(*view, current, written.status());
  if (current != nullptr && (*written)->revision() != current->revision())
    replaced_[name] = current->revision();
  Explain(current == nullptr ? "create" : "update", name,
          current == nullptr ? "the Service has no Endpoints" : "its addresses, ports or labels have changed",
          {{"pods", selected_.PodsOf(name).size()}, {"ready", counts.ready}, {"notReady", counts.not_ready}});
  co_return Reconciled::Done();
}

ReconcileResult EndpointsController::Failed(const ServiceView& view, const ObjectPtr& current,
                                            const api::Status& status) {
  // As long as the namespace is being deleted, every create fails.
  if (current == nullptr && status.HasCause("NamespaceTerminating")) return Reconciled::Done();
  const ObjectReference about = current == nullptr ? ObjectReference{.api_version = "v1",
                                                                     .kind = "Endpoints",
                                                                     .ns = view.name.ns,
                                                                     .name = view.name.name,
                                                                     .uid = ""}
                                                   : ReferenceTo(*current, "v1", "Endpoints");
  const std::string which = view.name.String() + ": " + status.message;
  if (current == nullptr)
    context_.recorder.Record({.component = kComponent}, about, kWarning, "FailedToCreateEndpoint",
                             "Failed to create endpoint for service " + which);
  else
    context_.recorder.Record({.component = kComponent}, about, kWarning, "FailedToUpdateEndpoint",
                             "Failed to update endpoint " + which);
  return status;
}

void EndpointsController::Explain(std::string_view action, const ObjectName& name, std::string rule,
                                  Json saw) {
  context_.why.Record({.time = context_.env.clock.Now(),
                       .revision = endpoints_.Revision(),
                       .controller = kName,
                       .action = std::string(action),
                       .resource = "endpoints",
                       .object = name,
                       .owner_resource = "services",
                       .owner = name,
                       .rule = std::move(rule),
                       .saw = std::make_shared<const Json>(std::move(saw))});
}

}  // namespace terrarium::controllers::endpoints

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeEndpointsController(const ControllerContext& context) {
  return std::make_unique<SharedController<endpoints::EndpointsController>>(context);
}

}  // namespace terrarium::controllers
