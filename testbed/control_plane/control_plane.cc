#include "testbed/control_plane/control_plane.h"

#include <algorithm>
#include <utility>

#include "api/base/clock.h"
#include "api/json_access.h"
#include "apiserver/admission/admission_plugins.h"
#include "apiserver/header.h"
#include "apiserver/resource_registry.h"
#include "controllers/controller_table.h"
#include "storage/memory_store.h"
#include "testbed/control_plane/call_targets.h"
#include "testbed/control_plane/components.h"
#include "testbed/control_plane/feature_metrics.h"
#include "testbed/control_plane/internal/event_expiry.h"
#include "testbed/control_plane/state_metrics/state_metrics.h"

namespace terrarium::testbed {
namespace {

// When the control plane that wrote this store last ran, according to its nodes' Leases. Its clock may have
// been ahead of the wall clock, and its writes must not lie in the future.
api::Time LastLived(const storage::Store& store) {
  storage::ListQuery query;
  query.resource = "leases";
  api::Time last{};
  auto listing = store.List(query);
  if (!listing) return last;
  for (const api::ObjectPtr& lease : listing->items) {
    api::Json document = lease->Parse();
    if (auto renewed = api::ParseTime(api::StringAt(document, "spec", "renewTime")))
      last = std::max(last, *renewed);
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

// The plugins that are off.
api::Result<apiserver::AdmissionPluginSet> DisabledAdmission(const ControlPlaneOptions& options,
                                                             const std::string& controllers) {
  auto selected = controllers::SelectControllers(controllers);
  if (!selected) return selected.status();
  auto enabled = apiserver::ParseAdmissionPlugins(options.enable_admission_plugins);
  if (!enabled) return enabled.status();
  auto disabled = apiserver::ParseAdmissionPlugins(options.disable_admission_plugins);
  if (!disabled) return disabled;
  // Without accounts no pod could be created: envtest, which runs no controllers, turns the plugin off too.
  const bool has_accounts = std::any_of(
      selected->begin(), selected->end(),
      [](const controllers::ControllerEntry* entry) { return entry->name == "serviceaccount-controller"; });
  if (!has_accounts && !enabled->contains(apiserver::kServiceAccountPlugin))
    disabled->emplace(apiserver::kServiceAccountPlugin);
  return disabled;
}

}  // namespace

api::Result<std::unique_ptr<ControlPlane>> ControlPlane::Make(Runtime& runtime, spdlog::logger& log,
                                                              ControlPlaneOptions options,
                                                              const ComponentOptions& components) {
  std::unique_ptr<ControlPlane> control_plane(new ControlPlane(runtime, log, options));
  if (auto opened = control_plane->OpenStore(options); !opened) return opened.status();
  runtime.NotBefore(LastLived(*control_plane->store_));
  ControlPlane& self = *control_plane;
  self.call_targets_ = options.call_targets ? options.call_targets : std::make_shared<CallTargets>();
  self.call_targets_->SetServicePorts(
      [&self](const api::ObjectName& service) { return PortsOfService(*self.store_, service); });
  options.handler.pod_log = [&self](const api::ObjectName& pod, const std::string& container, bool previous) {
    return self.components_->PodLog(pod, container, previous);
  };
  options.handler.pod_usage = [&self](const api::Object& pod) { return self.components_->PodUsage(pod); };
  options.handler.more_metrics = [&self] {
    return FeatureMetricsText(self.components_->List()) + self.components_->MetricsText() +
           StateMetricsText(*self.store_);
  };
  options.handler.create_warning = [&self](std::string_view resource) {
    return self.components_->WhyNothingActsOn(resource);
  };
  options.handler.gate_log = &self.gate_log_;
  auto disabled = DisabledAdmission(options, components.controllers);
  if (!disabled) return disabled.status();
  options.handler.disabled_admission = std::move(*disabled);
  self.event_expiry_ =
      std::make_shared<EventExpiry>(runtime, runtime.Lane("event-expiry"), *self.store_, options.event_ttl);
  self.event_expiry_->Start();
  self.handler_ =
      std::make_unique<apiserver::RestartableHandler>(self.env_, *self.store_, std::move(options.handler));
  auto made = Components::Make({runtime, self.env_, self.prng_, *self.handler_, *self.store_, self.gate_log_},
                               components);
  if (!made) return made.status();
  self.components_ = std::move(*made);
  runtime.SetInstantPieces([&self] { return self.InstantPieces(); });
  return control_plane;
}

ControlPlane::ControlPlane(Runtime& runtime, spdlog::logger& log, ControlPlaneOptions options)
    : runtime_(runtime),
      gates_(std::move(options.gates)),
      prng_(options.seed),
      apiserver_prng_(prng_.Fork("apiserver")),
      env_{runtime_, runtime_.Lane("apiserver"), apiserver_prng_, gates_, log} {}

api::Result<void> ControlPlane::OpenStore(const ControlPlaneOptions& options) {
  if (options.data_file.empty()) {
    store_ = storage::OpenMemoryStore();
    return {};
  }
  storage::SqliteOptions sqlite;
  sqlite.path = options.data_file;
  sqlite.follow_symlinks = options.data_symlinks;
  sqlite.durability = options.durability;
  sqlite.derive_header = apiserver::DeriveHeaderOfStored;
  auto opened = storage::OpenSqliteStore(sqlite);
  if (!opened) return opened.status();
  store_ = std::move(*opened);
  return {};
}

// A large control plane has more work at one instant than a small one: each object takes some dozen pieces of
// work, from its creation to its owner's status. Events do not count: a control plane that does not settle
// may write them indefinitely.
std::int64_t ControlPlane::PiecesAllowed(std::size_t objects) {
  constexpr std::int64_t kPiecesPerObject = 200;
  constexpr std::size_t kObjectsCounted = 200'000;
  return Runtime::kInstantPieces +
         kPiecesPerObject * static_cast<std::int64_t>(std::min(objects, kObjectsCounted));
}

std::int64_t ControlPlane::InstantPieces() const {
  std::size_t objects = 0;
  const auto table = handler_->registry().Table();
  for (const apiserver::ResourceInfo& resource : table->all())
    if (resource.storage != "events" && resource.stored_as == nullptr)
      objects += store_->Count(resource.storage);
  return PiecesAllowed(objects);
}

ControlPlane::~ControlPlane() {
  components_ = nullptr;
  // The caller may keep call_targets_ after the store is gone.
  if (call_targets_ != nullptr) call_targets_->SetServicePorts(nullptr);
  if (store_ != nullptr) Shutdown();
}

void ControlPlane::Shutdown() { store_->Shutdown(); }

}  // namespace terrarium::testbed
