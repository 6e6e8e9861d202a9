#include "testbed/control_plane/components.h"

#include <utility>
#include <vector>

#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "apiserver/restartable_handler.h"
#include "controllers/missing_controller.h"
#include "kubelet-fake/kubelet/container_runtime.h"
#include "testbed/control_plane/internal/component.h"
#include "testbed/control_plane/internal/component_run.h"
#include "testbed/control_plane/internal/run_process.h"

namespace terrarium::testbed {
namespace {

// The apiserver does not wait for its work in progress: an ended handler answers its requests by itself.
class ApiServerProcess : public ComponentProcess {
 public:
  explicit ApiServerProcess(const ControlPlaneParts& control_plane)
      : handler_(control_plane.handler), lane_(control_plane.apiserver.executor) {}

  void Make(const api::FeatureGates& gates) override { handler_.Start(gates); }
  void Begin(std::function<void()> synced) override { synced(); }
  void End(const Ending& how, std::function<void()> ended) override {
    handler_.End(how.crash);
    ended();
  }
  api::Executor& executor() override { return lane_; }

 private:
  apiserver::RestartableHandler& handler_;
  api::Executor& lane_;
};

}  // namespace

class Components::Impl {
 public:
  Impl(const ControlPlaneParts& control_plane, const ComponentOptions& options)
      : deps{control_plane, why, options, {}},
        apiserver_process(control_plane),
        apiserver(component::kApiServer, control_plane.apiserver.gates, control_plane,
                  control_plane.apiserver.executor, apiserver_process) {
    deps.options.pods.rule_book = std::make_shared<kubelet_fake::RuleBook>();
    deps.options.pods.containers = std::make_shared<kubelet_fake::ContainerRuntime>();
    all.emplace(component::kApiServer, &apiserver);
    // Work that waits for the apiserver to come back does not keep the control plane from being idle.
    apiserver.OnStartOrStop([this](bool running) {
      for (auto& [name, beside] : others) beside->process.SetServerDown(!running);
    });
    apiserver.Start();
  }

  void Add(std::string_view name, RunMaker make, const api::FeatureGates& gates) {
    auto beside = std::make_unique<Beside>(name, make, gates, deps);
    beside->component.StartOnLane();
    all.emplace(name, &beside->component);
    others.emplace(name, std::move(beside));
  }
  Component* Find(std::string_view name) const {
    auto found = all.find(name);
    return found == all.end() ? nullptr : found->second;
  }

  // A component beside the apiserver.
  struct Beside {
    Beside(std::string_view name, RunMaker make, const api::FeatureGates& gates, ComponentDeps& deps)
        : process(name, make, deps), component(name, gates, deps.control_plane, process.lane(), process) {}
    RunProcess process;
    Component component;
  };
  Beside* kubelet() const {
    auto found = others.find(component::kKubelet);
    return found == others.end() ? nullptr : found->second.get();
  }

  controllers::WhyLog why;
  ComponentDeps deps;
  ApiServerProcess apiserver_process;
  Component apiserver;
  // Neither changes once made.
  std::map<std::string, std::unique_ptr<Beside>, std::less<>> others;
  std::map<std::string, Component*, std::less<>> all;
};

Components::Components(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Components::~Components() = default;

api::Result<std::unique_ptr<Components>> Components::Make(const ControlPlaneParts& control_plane,
                                                          const ComponentOptions& options) {
  auto wanted = controllers::SelectControllers(options.controllers);
  if (!wanted) return wanted.status();
  auto impl = std::make_unique<Impl>(control_plane, options);
  impl->deps.controllers = *wanted;
  if (!wanted->empty())
    impl->Add(component::kControllerManager, MakeControllerManager, options.controller_manager_gates);
  if (options.scheduler) impl->Add(component::kScheduler, MakeScheduler, options.scheduler_gates);
  if (options.kubelet) impl->Add(component::kKubelet, MakeKubelet, options.kubelet_gates);
  return std::unique_ptr<Components>(new Components(std::move(impl)));
}

std::string Components::WhyNothingActsOn(std::string_view resource) const {
  return controllers::WhyNothingActsOn(resource, impl_->deps.controllers);
}

std::vector<ComponentInfo> Components::List() const {
  std::vector<ComponentInfo> out;
  for (const auto& [name, component] : impl_->all) out.push_back(component->Info());
  return out;
}

std::optional<ComponentInfo> Components::Find(std::string_view component) const {
  const Component* found = impl_->Find(component);
  if (found == nullptr) return std::nullopt;
  return found->Info();
}

void Components::Change(const std::string& component, ComponentChange change, ChangeDone done) {
  Component* found = impl_->Find(component);
  if (found == nullptr) return done(UnknownComponent(component));
  found->Change(std::move(change), std::move(done));
}

ChangeResult Components::ChangeNow(const std::string& component, const ComponentChange& change,
                                   const std::function<void()>& drain) {
  Component* found = impl_->Find(component);
  if (found == nullptr) return UnknownComponent(component);
  return found->ChangeNow(change, drain);
}

std::optional<KubeletControls> Components::kubelet() {
  Impl::Beside* kubelet = impl_->kubelet();
  if (kubelet == nullptr || kubelet->process.run() == nullptr) return std::nullopt;
  return kubelet->process.run()->kubelet();
}

bool Components::OnKubelet(std::function<void(const KubeletControls*)> work) {
  Impl::Beside* there = impl_->kubelet();
  if (there == nullptr) return false;
  there->component.PostBetweenChanges([this, work = std::move(work)] {
    auto controls = kubelet();
    work(controls ? &*controls : nullptr);
  });
  return true;
}

std::shared_ptr<api::ContainerLog> Components::PodLog(const api::ObjectName& pod,
                                                      const std::string& container, bool previous) const {
  // Only a running kubelet serves logs.
  const Component* kubelet = impl_->Find(component::kKubelet);
  if (kubelet == nullptr || !kubelet->Info().running) return nullptr;
  return impl_->deps.options.pods.containers->Log(pod, container, previous);
}

std::optional<std::vector<api::ContainerUsage>> Components::PodUsage(const api::Object& pod) const {
  const Component* kubelet = impl_->Find(component::kKubelet);
  if (kubelet == nullptr || !kubelet->Info().running) return std::nullopt;
  return impl_->deps.options.pods.containers->Usage(pod, impl_->deps.control_plane.apiserver.clock.Now());
}

controllers::WhyLog& Components::why() { return impl_->why; }

std::string Components::MetricsText() const {
  // A family that several components have is written once.
  std::map<std::string, prometheus::MetricFamily> families;
  for (const auto& [name, beside] : impl_->others) {
    auto metrics = beside->process.Metrics();
    if (metrics == nullptr) continue;
    for (prometheus::MetricFamily& family : metrics->registry().Collect()) {
      auto [known, fresh] = families.try_emplace(family.name, std::move(family));
      if (fresh) continue;
      for (prometheus::ClientMetric& metric : family.metric)
        known->second.metric.push_back(std::move(metric));
    }
  }
  std::vector<prometheus::MetricFamily> all;
  for (auto& [name, family] : families) all.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace terrarium::testbed
