#include "testbed/embedding/testbed.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "api/selector/label_selector.h"
#include "api/write_request.h"
#include "apiserver/resource_registry.h"
#include "controllers/controller_table.h"
#include "controllers/runtime/why.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "testbed/control_plane/components.h"
#include "testbed/control_plane/object_watch.h"
#include "testbed/embedding/internal/crash_point.h"
#include "testbed/invariants/monitor.h"
#include "testbed/runtime/simulation.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using api::ObjectName;

api::FeatureGates GatesOf(const TestbedOptions& options, const char* component) {
  auto gates = api::FeatureGates().With(options.feature_gates);
  CHECK(gates.ok());
  auto own = options.component_feature_gates.find(component);
  if (own == options.component_feature_gates.end()) return *gates;
  gates = gates->With(own->second);
  CHECK(gates.ok());
  return *gates;
}

std::set<std::string> RunningControllers(const std::string& list) {
  auto selected = controllers::SelectControllers(list);
  CHECK(selected.ok());
  std::set<std::string> names;
  for (const controllers::ControllerEntry* entry : *selected) names.emplace(entry->name);
  return names;
}

// The number of decision records printed per object of a violation, newest last.
constexpr std::size_t kWhyRecordsShown = 10;

std::string ExplainedBy(const controllers::WhyLog& why, const invariants::Violation& violation) {
  std::string out = violation.String();
  for (const invariants::ObjectRef& object : violation.objects) {
    std::vector<controllers::WhyRecord> records = why.Find(object.resource, object.name);
    if (records.size() > kWhyRecordsShown) records.erase(records.begin(), records.end() - kWhyRecordsShown);
    for (const controllers::WhyRecord& record : records) out += "\n  " + controllers::ToJson(record).dump();
  }
  return out;
}

}  // namespace

class Testbed::Impl {
 public:
  explicit Impl(TestbedOptions options)
      : log("terrarium", std::make_shared<spdlog::sinks::stderr_sink_mt>()),
        simulation(options.start, options.seed) {
    log.set_level(options.quiet ? spdlog::level::off : spdlog::level::warn);
    ControlPlaneOptions control_plane_options;
    control_plane_options.seed = options.seed;
    control_plane_options.gates = GatesOf(options, "apiserver");
    control_plane_options.call_targets = options.call_targets;
    ComponentOptions components;
    components.controllers = options.controllers;
    components.scheduler = options.scheduler;
    components.kubelet = options.kubelet;
    components.nodes.nodes = options.nodes;
    components.http_caller = options.http_caller;
    components.pods.defaults = options.pod_defaults;
    components.controller_manager_gates = GatesOf(options, "controller-manager");
    components.kubelet_gates = GatesOf(options, "kubelet");
    components.scheduler_gates = GatesOf(options, "scheduler");
    MakeMonitor(options, {true, control_plane_options.gates, components.controller_manager_gates});
    components.wrap_client = [this](std::unique_ptr<api::Client> client, const std::string& component) {
      auto watched = monitor->Watched(std::move(client), component);
      return std::make_unique<CrashingClient>(std::move(watched), crash_point, component);
    };
    auto made = ControlPlane::Make(simulation.runtime(), log, std::move(control_plane_options), components);
    CHECK(made.ok());
    control_plane = std::move(*made);
    timeline = std::make_unique<Timeline>(*control_plane);
    monitor->Follow(control_plane->store(), simulation.runtime());
    simulation.SetAfterPiece([this] { CrashIfReached(); });
    simulation.SetOnRest([this](bool idle) {
      idle ? monitor->Idle() : monitor->Catchup();
      timeline->Wrote("apiserver");  // writes that no component requested
    });
    simulation.clock().Settle();
  }

  void MakeMonitor(const TestbedOptions& options, const invariants::Conduct& conduct) {
    invariants::MonitorOptions watched;
    watched.controllers = RunningControllers(options.controllers);
    watched.conduct = conduct;
    watched.on_violation = options.on_violation;
    if (!watched.on_violation)
      watched.on_violation = [this](const invariants::Violation& violation) {
        std::fprintf(stderr, "%s\n", ExplainedBy(control_plane->components().why(), violation).c_str());
        std::abort();
      };
    watched.on_write = [this](const std::string& component) { timeline->Wrote(component); };
    monitor = std::make_unique<invariants::Monitor>(std::move(watched));
  }

  ChangeResult Change(const std::string& component, const ComponentChange& change) {
    using Action = ComponentChange::Action;
    const bool orderly = change.action != Action::kStart && change.action != Action::kCrash;
    ChangeResult changed = control_plane->components().ChangeNow(component, change, [this, orderly] {
      // A graceful stop first runs all work that is due now.
      if (orderly) simulation.clock().Settle();
      monitor->Catchup();
    });
    if (!changed) return changed;
    UpdateMonitor();
    NoteChange(component, change);
    return changed;
  }

  void CrashIfReached() {
    if (!crash_point->reached) return;
    const std::string component = crash_point->component;
    *crash_point = {};
    if (!control_plane->components().Find(component)->running) return;
    auto crashed = Change(component, {ComponentChange::Action::kCrash});
    CHECK(crashed.ok());
  }

  void NoteChange(const std::string& component, const ComponentChange& change) {
    constexpr const char* kWords[] = {"start", "stop", "restart", "crash", "feature-gates"};  // by Action
    std::string gates;
    for (const auto& [gate, on] : change.gates)
      gates += (gates.empty() ? "" : ",") + gate + (on ? "=true" : "=false");
    timeline->Note(component, kWords[static_cast<int>(change.action)], std::move(gates));
  }

  void UpdateMonitor() {
    invariants::Conduct conduct;
    const auto manager = control_plane->components().Find(component::kControllerManager);
    const ComponentInfo apiserver = *control_plane->components().Find(component::kApiServer);
    conduct.controllers_run = manager && manager->running && apiserver.running;
    conduct.apiserver = apiserver.gates;
    conduct.controller_manager = manager ? manager->gates : apiserver.gates;
    monitor->SetConduct(conduct);
  }

  // The memory store responds before a write returns.
  Written Write(api::WriteRequest request) {
    std::optional<Written> answer;
    control_plane->handler().Write(std::move(request), {.user = {}, .user_agent = "terrarium-testbed"},
                                   [&answer](Written written) { answer = std::move(written); });
    CHECK(answer.has_value());
    AfterWrite();
    return std::move(*answer);
  }

  // Records a write by the test, that is by the caller of the testbed.
  void AfterWrite() {
    monitor->Catchup();
    timeline->Wrote("test");
  }

  template <typename View>
  std::vector<View> Views(Testbed& bed, std::string_view selector, std::optional<std::string> ns) {
    auto wanted = api::LabelSelector::Parse(selector);
    if (!wanted) EndWith(wanted.status());
    std::vector<View> out;
    for (api::ObjectPtr& object : bed.List(View::kResource, std::move(ns)))
      if (wanted->Matches(object->header())) out.emplace_back(std::move(object));
    return out;
  }

  spdlog::logger log;
  const std::shared_ptr<CrashPoint> crash_point = std::make_shared<CrashPoint>();
  Simulation simulation;
  std::unique_ptr<ControlPlane> control_plane;
  std::unique_ptr<Timeline> timeline;
  // Destroyed before the control plane, because it watches the control plane's store. The components' clients
  // refer to it, but no lane runs by then.
  std::unique_ptr<invariants::Monitor> monitor;
};

Testbed::Testbed(TestbedOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Testbed::~Testbed() {
  impl_->monitor->Catchup();
  impl_->simulation.runtime().Shutdown();
}

ClockControl& Testbed::clock() { return impl_->simulation.clock(); }
api::Time Testbed::Now() const { return impl_->simulation.runtime().Now(); }
ControlPlane& Testbed::control_plane() { return *impl_->control_plane; }
kubelet_fake::PodRules& Testbed::rules() { return impl_->control_plane->components().kubelet().value().pods; }
kubelet_fake::NodeAgent& Testbed::nodes() {
  return impl_->control_plane->components().kubelet().value().nodes;
}

controllers::WhyLog& Testbed::why() { return impl_->control_plane->components().why(); }
CallTargets& Testbed::call_targets() { return impl_->control_plane->call_targets(); }
invariants::Monitor& Testbed::monitor() { return *impl_->monitor; }
std::string Testbed::Explained(const invariants::Violation& violation) const {
  return ExplainedBy(impl_->control_plane->components().why(), violation);
}
Timeline& Testbed::timeline() { return *impl_->timeline; }

ApplyReport Testbed::Apply(std::string_view manifests, const ApplyOptions& options) {
  return ApplyManifests(manifests, options, *impl_->control_plane->handler().registry().Table(),
                        [this](apiserver::Request request) { return Serve(std::move(request)); });
}

ChangeResult Testbed::SetGates(const std::string& component, const std::map<std::string, bool>& gates) {
  return impl_->Change(component, {ComponentChange::Action::kSetGates, gates});
}
ChangeResult Testbed::Start(const std::string& component) {
  return impl_->Change(component, {ComponentChange::Action::kStart});
}
ChangeResult Testbed::Stop(const std::string& component) {
  return impl_->Change(component, {ComponentChange::Action::kStop});
}
ChangeResult Testbed::Restart(const std::string& component) {
  return impl_->Change(component, {ComponentChange::Action::kRestart});
}
ChangeResult Testbed::Crash(const std::string& component) {
  return impl_->Change(component, {ComponentChange::Action::kCrash});
}

void Testbed::CrashAtWrite(const std::string& component, int write, CrashMoment moment) {
  CHECK(component != component::kApiServer && write > 0 && IsRunning(component));
  *impl_->crash_point = {component, write, moment == CrashMoment::kAfterWrite, false};
}

const apiserver::GateLog& Testbed::gate_log() const { return impl_->control_plane->gate_log(); }

ComponentInfo Testbed::Component(const std::string& component) const {
  return impl_->control_plane->components().Find(component).value();
}

Testbed::Written Testbed::Create(std::string_view resource, std::string_view ns, Json object) {
  return impl_->Write(api::RequestToCreate(resource, ns, std::move(object)));
}

Testbed::Written Testbed::Update(std::string_view resource, Json object, std::string_view subresource) {
  return impl_->Write(api::RequestToUpdate(resource, std::move(object), subresource));
}

Testbed::Written Testbed::Patch(std::string_view resource, ObjectName name, Json patch,
                                std::string_view subresource) {
  return impl_->Write(api::RequestToPatch(resource, std::move(name), std::move(patch), subresource));
}

Testbed::Written Testbed::Delete(std::string_view resource, ObjectName name, api::DeleteRequest options) {
  return impl_->Write(api::RequestToDelete(resource, std::move(name), options));
}

Testbed::Written Testbed::Evict(const ObjectName& pod) {
  Json eviction = {{"metadata", {{"name", pod.name}, {"namespace", pod.ns}}}};
  return impl_->Write(api::RequestToCreateSub("pods", pod, "eviction", std::move(eviction)));
}

apiserver::Response Testbed::Serve(apiserver::Request request) {
  std::optional<apiserver::Response> answer;
  impl_->control_plane->handler().Serve(
      std::move(request), [&answer](apiserver::Response response) { answer = std::move(response); });
  CHECK(answer.has_value());
  impl_->AfterWrite();
  return std::move(*answer);
}

api::ObjectPtr Testbed::Get(std::string_view resource, std::string_view ns, std::string_view name) {
  return impl_->control_plane->store().Get({std::string(resource), std::string(ns), std::string(name)});
}

std::vector<api::ObjectPtr> Testbed::List(std::string_view resource, std::optional<std::string> ns) {
  storage::ListQuery query;
  query.resource = resource;
  query.ns = std::move(ns);
  return impl_->control_plane->store().List(query)->items;
}

DeploymentView Testbed::Deployment(std::string_view name, std::string_view ns) {
  return ViewOf<DeploymentView>(name, ns);
}
ReplicaSetView Testbed::ReplicaSet(std::string_view name, std::string_view ns) {
  return ViewOf<ReplicaSetView>(name, ns);
}
JobView Testbed::Job(std::string_view name, std::string_view ns) { return ViewOf<JobView>(name, ns); }
PodView Testbed::Pod(std::string_view name, std::string_view ns) { return ViewOf<PodView>(name, ns); }
NodeView Testbed::Node(std::string_view name) { return ViewOf<NodeView>(name, ""); }

std::vector<PodView> Testbed::Pods(std::string_view selector, std::optional<std::string> ns) {
  return impl_->Views<PodView>(*this, selector, std::move(ns));
}
std::vector<ReplicaSetView> Testbed::ReplicaSets(std::string_view selector, std::optional<std::string> ns) {
  return impl_->Views<ReplicaSetView>(*this, selector, std::move(ns));
}

std::vector<EventView> Testbed::Events(std::string_view kind, std::string_view name, std::string_view ns) {
  std::vector<EventView> out;
  std::optional<std::string> where;
  if (!kind.empty() || !name.empty()) where = ns;
  for (EventView& event : impl_->Views<EventView>(*this, "", std::move(where))) {
    bool wanted =
        (kind.empty() || event.regarding_kind() == kind) && (name.empty() || event.regarding_name() == name);
    if (wanted) out.push_back(std::move(event));
  }
  // List() sorts by namespace and name. The sort is stable: Events with equal timestamps keep that order.
  std::stable_sort(out.begin(), out.end(), [](const EventView& a, const EventView& b) {
    return api::StringAt(a.document(), "metadata", "creationTimestamp") <
           api::StringAt(b.document(), "metadata", "creationTimestamp");
  });
  return out;
}

api::Result<std::int64_t> Testbed::WaitFor(std::string_view resource, ObjectName name,
                                           const std::string& condition, api::Duration limit) {
  auto wanted = ObjectCondition::Parse(condition);
  if (!wanted) return wanted.status();
  std::string subject = std::string(resource) + "/" + name.name;
  storage::ObjectKey key{std::string(resource), std::move(name.ns), std::move(name.name)};
  auto watch = ObjectWatch::Make(*impl_->control_plane, std::move(key), std::move(*wanted));
  if (!watch) return watch.status();
  RunOutcome outcome = clock().RunUntil([&watch] { return (*watch)->Held(); }, limit);
  if (outcome.why == RunOutcome::Why::kDone) return (*watch)->revision();
  if (outcome.why == RunOutcome::Why::kBusy) return api::TimedOut("the cluster does not come to rest");
  return api::TimedOut("timed out waiting for the condition on " + subject);
}

api::Result<Json> Testbed::Hold(const ObjectName& pod, std::string_view point) {
  return rules().Hold({{"namespace", pod.ns}, {"pod", pod.name}, {"point", point}});
}

api::Result<Json> Testbed::Release(const ObjectName& pod, std::string_view point,
                                   std::optional<int> exit_code) {
  Json order = {{"namespace", pod.ns}, {"pod", pod.name}};
  if (!point.empty()) order["point"] = point;
  if (exit_code) order["outcome"] = {{"exitCode", *exit_code}};
  return rules().Release(order);
}

std::vector<Applied> Testbed::Must(ApplyReport report) {
  if (!report.ok()) std::fprintf(stderr, "%s", report.String().c_str());
  CHECK(report.ok());
  return std::move(report.applied);
}

void Testbed::EndWith(const api::Status& status) {
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::abort();
}

}  // namespace terrarium::testbed
