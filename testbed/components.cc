#include "testbed/components.h"

#include <utility>
#include <vector>

#include "api/client.h"
#include "apiserver/in_process_client.h"
#include "apiserver/resource_table.h"
#include "controllers/controller_table.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/why.h"
#include "kubelet-fake/scheduler/scheduler.h"

namespace terrarium::testbed {
namespace {

// Where a component lives.
struct Surroundings {
  Runtime& runtime;
  const api::Env& apiserver;
  api::Prng& prng;
  apiserver::Handler& handler;
  storage::Store& store;
  controllers::Metrics& metrics;
  controllers::WhyLog& why;
  const ComponentOptions& options;
};

apiserver::UserInfo UserOf(const std::string& component) {
  apiserver::UserInfo user;
  user.name = "system:kube-" + component;
  return user;
}

std::unique_ptr<api::Client> MakeClient(const Surroundings& at, const api::Env& env, const std::string& component) {
  auto client = apiserver::MakeInProcessClient(env, at.handler, at.store, UserOf(component));
  return at.options.wrap_client ? at.options.wrap_client(std::move(client), component) : std::move(client);
}

// What every component is made of.
struct Component {
  Component(const Surroundings& at, const std::string& name, const api::FeatureGates& its_gates)
      : gates(its_gates),
        prng(at.prng.Fork(name)),
        env{at.apiserver.clock, at.runtime.Lane(name), prng, gates, at.apiserver.log},
        client(MakeClient(at, env, name)),
        informers(env, *client),
        recorder_env{at.apiserver.clock, at.runtime.Lane(name + "-events"), prng, gates, at.apiserver.log},
        recorder_client(MakeClient(at, recorder_env, name)),
        recorder(recorder_env, *recorder_client) {}

  api::FeatureGates gates;
  api::Prng prng;
  api::Env env;
  std::unique_ptr<api::Client> client;
  controllers::InformerSet informers;
  // Events are as many writes as all the rest, and nobody waits for them: they go on a lane of their own.
  api::Env recorder_env;
  std::unique_ptr<api::Client> recorder_client;
  controllers::EventRecorder recorder;
};

struct ControllerManager {
  ControllerManager(const Surroundings& at, const ComponentOptions& options,
                    const std::vector<const controllers::ControllerEntry*>& wanted,
                    const std::vector<controllers::ServedResource>& resources)
      : base(at, "controller-manager", options.controller_manager_gates) {
    controllers::ControllerContext context{base.env, *base.client, base.informers, base.recorder, at.metrics,
                                           at.why, options.http_caller};
    for (const controllers::ControllerEntry* entry : wanted) running.push_back(entry->make(context, resources));
    base.env.executor.Post([this] {
      base.informers.OnSynced([this] {
        for (auto& controller : running) controller->Start();
      });
      base.informers.Start();
    });
  }

  Component base;
  std::vector<std::unique_ptr<controllers::Controller>> running;
};

struct SchedulerComponent {
  SchedulerComponent(const Surroundings& at, const ComponentOptions& options)
      : base(at, "scheduler", options.scheduler_gates),
        scheduler(base.env, *base.client, base.informers, base.recorder, at.metrics) {
    base.env.executor.Post([this] {
      base.informers.OnSynced([this] { scheduler.Start(); });
      base.informers.Start();
    });
  }

  Component base;
  kubelet_fake::Scheduler scheduler;
};

struct KubeletComponent {
  KubeletComponent(const Surroundings& at, const ComponentOptions& options)
      : base(at, "kubelet", options.kubelet_gates),
        nodes(base.env, *base.client, base.informers, base.recorder, options.nodes),
        kubelet(base.env, *base.client, base.informers, base.recorder, nodes, options.pods) {
    base.env.executor.Post([this] {
      base.informers.OnSynced([this] {
        nodes.Start();
        kubelet.Start();
      });
      base.informers.Start();
    });
  }

  Component base;
  kubelet_fake::NodeAgent nodes;
  kubelet_fake::Kubelet kubelet;
};

// What controllers that work on everything work on.
std::vector<controllers::ServedResource> ServedResources() {
  std::vector<controllers::ServedResource> out;
  for (const apiserver::ResourceInfo& resource : apiserver::ResourceTable::Get().all()) {
    if (resource.strategy == nullptr || !resource.HasVerb("delete") || !resource.HasVerb("watch")) continue;
    // A storage name that another resource owns is the same objects under a second group.
    if (apiserver::ResourceTable::Get().FindStorage(resource.storage) != &resource) continue;
    out.push_back({std::string(resource.storage), std::string(resource.group), std::string(resource.version),
                   std::string(resource.kind), resource.namespaced, resource.Subresource("scale") != nullptr});
  }
  return out;
}

}  // namespace

class Components::Impl {
 public:
  // One for all, so that a family of metrics that several components have is written once.
  controllers::Metrics metrics;
  controllers::WhyLog why;
  std::unique_ptr<ControllerManager> controller_manager;
  std::unique_ptr<SchedulerComponent> scheduler;
  std::unique_ptr<KubeletComponent> kubelet;
};

Components::Components(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Components::~Components() = default;

api::Result<std::unique_ptr<Components>> Components::Make(Runtime& runtime, const api::Env& apiserver,
                                                          api::Prng& prng, apiserver::Handler& handler,
                                                          storage::Store& store, const ComponentOptions& options) {
  auto wanted = controllers::SelectControllers(options.controllers);
  if (!wanted) return wanted.status();
  auto impl = std::make_unique<Impl>();
  Surroundings at{runtime, apiserver, prng, handler, store, impl->metrics, impl->why, options};
  if (!wanted->empty())
    impl->controller_manager = std::make_unique<ControllerManager>(at, options, *wanted, ServedResources());
  if (options.scheduler) impl->scheduler = std::make_unique<SchedulerComponent>(at, options);
  if (options.kubelet) impl->kubelet = std::make_unique<KubeletComponent>(at, options);
  return std::unique_ptr<Components>(new Components(std::move(impl)));
}

const api::FeatureGates* Components::GatesOf(const std::string& component) const {
  if (component == "controller-manager" && impl_->controller_manager) return &impl_->controller_manager->base.gates;
  if (component == "scheduler" && impl_->scheduler) return &impl_->scheduler->base.gates;
  if (component == "kubelet" && impl_->kubelet) return &impl_->kubelet->base.gates;
  return nullptr;
}

std::optional<KubeletControls> Components::kubelet() {
  if (impl_->kubelet == nullptr) return std::nullopt;
  return KubeletControls{impl_->kubelet->kubelet.rules(), impl_->kubelet->nodes};
}

bool Components::OnKubelet(std::function<void(const KubeletControls&)> work) {
  auto controls = kubelet();
  if (!controls) return false;
  impl_->kubelet->base.env.executor.Post([controls = *controls, work = std::move(work)] { work(controls); });
  return true;
}

std::optional<std::string> Components::PodLog(const std::string& ns, const std::string& pod,
                                              const std::string& container) const {
  if (impl_->kubelet == nullptr) return std::nullopt;
  return impl_->kubelet->kubelet.Log(ns, pod, container);
}

controllers::WhyLog& Components::why() { return impl_->why; }

std::string Components::MetricsText() const { return impl_->metrics.Text(); }

}  // namespace terrarium::testbed
