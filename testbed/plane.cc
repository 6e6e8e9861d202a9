#include "testbed/plane.h"

#include <algorithm>
#include <utility>

#include "api/base/clock.h"
#include "api/json_access.h"
#include "apiserver/header.h"
#include "storage/memory_store.h"
#include "testbed/call_targets.h"
#include "testbed/components.h"
#include "testbed/feature_metrics.h"
#include "testbed/state_metrics/state_metrics.h"

namespace terrarium::testbed {
namespace {

// When the plane that left this store last lived, as far as its nodes' heartbeats tell: its clock may have been ahead of
// the machine's, and what it wrote must not lie in the future.
api::Time LastLived(const storage::Store& store) {
  storage::ListQuery query;
  query.resource = "leases";
  api::Time last{};
  auto listing = store.List(query);
  if (!listing) return last;
  for (const api::ObjectPtr& lease : listing->items) {
    api::Json document = lease->Parse();
    if (auto renewed = api::ParseTime(api::StringAt(document, "spec", "renewTime"))) last = std::max(last, *renewed);
  }
  return last;
}

std::vector<ServicePort> PortsOfService(const storage::Store& store, const api::ObjectName& name) {
  std::vector<ServicePort> out;
  api::ObjectPtr service = store.Get({"services", name.ns, name.name});
  if (service == nullptr) return out;
  api::Json document = service->Parse();
  if (const api::Json* ports = api::Find(document, "spec", "ports"))
    for (const api::Json& port : *ports)
      out.push_back({std::string(api::StringAt(port, "name")), port.value("port", std::uint16_t{0})});
  return out;
}

}  // namespace

api::Result<std::unique_ptr<Plane>> Plane::Make(Runtime& runtime, spdlog::logger& log, PlaneOptions options,
                                                const ComponentOptions& components) {
  std::unique_ptr<Plane> plane(new Plane(runtime, log, options));
  if (auto opened = plane->OpenStore(options); !opened) return opened.status();
  runtime.NotBefore(LastLived(*plane->store_));
  Plane& self = *plane;
  self.call_targets_ = options.call_targets ? options.call_targets : std::make_shared<CallTargets>();
  self.call_targets_->SetServicePorts(
      [&self](const api::ObjectName& service) { return PortsOfService(*self.store_, service); });
  options.handler.pod_log = [&self](const std::string& ns, const std::string& pod, const std::string& container) {
    return self.components_->PodLog(ns, pod, container);
  };
  options.handler.more_metrics = [&self] {
    return FeatureMetricsText(self.ListComponents()) + self.components_->MetricsText() +
           StateMetricsText(*self.store_);
  };
  options.handler.gate_log = &self.gate_log_;
  self.handler_ =
      std::make_unique<apiserver::RestartableHandler>(self.env_, *self.store_, std::move(options.handler));
  self.handler_->Start(self.gates_);
  self.apiserver_ = {std::string(component::kApiServer), true, true, 1, runtime.Now(), self.gates_};
  auto made = Components::Make(
      {runtime, self.env_, self.prng_, *self.handler_, *self.store_, self.gate_log_}, components);
  if (!made) return made.status();
  self.components_ = std::move(*made);
  return plane;
}

Plane::Plane(Runtime& runtime, spdlog::logger& log, PlaneOptions options)
    : runtime_(runtime),
      gates_(std::move(options.gates)),
      prng_(options.seed),
      apiserver_prng_(prng_.Fork("apiserver")),
      env_{runtime_, runtime_.Lane("apiserver"), apiserver_prng_, gates_, log} {}

api::Result<bool> Plane::OpenStore(const PlaneOptions& options) {
  if (options.data_file.empty()) {
    store_ = storage::OpenMemoryStore();
    return true;
  }
  storage::SqliteOptions sqlite;
  sqlite.path = options.data_file;
  sqlite.durability = options.durability;
  sqlite.derive_header = apiserver::DeriveHeaderOfStored;
  auto opened = storage::OpenSqliteStore(sqlite);
  if (!opened) return opened.status();
  store_ = std::move(*opened);
  return true;
}

Plane::~Plane() {
  components_ = nullptr;
  if (call_targets_ != nullptr) call_targets_->SetServicePorts(nullptr);  // others may have it too
  if (store_ != nullptr) Shutdown();
}

void Plane::Shutdown() { store_->Shutdown(); }

ComponentInfo Plane::ApiServer() const {
  std::lock_guard lock(mutex_);
  return apiserver_;
}

std::vector<ComponentInfo> Plane::ListComponents() const {
  std::vector<ComponentInfo> out = components_->List();
  out.insert(out.begin(), ApiServer());
  return out;
}

std::optional<ComponentInfo> Plane::FindComponent(std::string_view component) const {
  if (component == component::kApiServer) return ApiServer();
  return components_->Find(component);
}

void Plane::Change(const std::string& component, ComponentChange change, ChangeDone done) {
  if (component == component::kApiServer) return done(ChangeApiServer(change));
  components_->Change(component, std::move(change), std::move(done));
}

ChangeResult Plane::ChangeNow(const std::string& component, const ComponentChange& change) {
  if (component == component::kApiServer) return ChangeApiServer(change);
  return components_->ChangeNow(component, change);
}

ChangeResult Plane::ChangeApiServer(const ComponentChange& change) {
  std::lock_guard one_at_a_time(change_mutex_);
  ComponentInfo info = ApiServer();
  auto plan = PlanChange(info, change);
  if (!plan) return plan.status();
  if (plan->ends) handler_->End(plan->crash);
  if (plan->starts) handler_->Start(plan->gates);
  if (plan->ends != plan->starts) components_->SetInVain(plan->ends);
  gate_log_.Change(runtime_.Now(), store_->CurrentRevision(), info.name, info.gates, plan->gates);
  info.gates = plan->gates;
  info.running = info.synced = plan->starts || (info.running && !plan->ends);
  if (plan->starts) ++info.starts;
  if (plan->starts || plan->ends) info.since = runtime_.Now();
  std::lock_guard lock(mutex_);
  apiserver_ = info;
  return info;
}

}  // namespace terrarium::testbed
