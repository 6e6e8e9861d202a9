#include "testbed/control_plane/internal/component_run.h"

#include <functional>
#include <utility>

#include "api/base/executor.h"
#include "apiserver/handler.h"
#include "apiserver/in_process_client.h"
#include "apiserver/resource_registry.h"
#include "apiserver/restartable_handler.h"
#include "kubelet-fake/scheduler/scheduler.h"
#include "testbed/control_plane/internal/placeholder_ca.h"

namespace terrarium::testbed {
namespace {

std::unique_ptr<DrainingClient> MakeClient(const ComponentDeps& deps, const api::Env& env,
                                           const std::string& component) {
  apiserver::Sender sender;
  sender.user.name = "system:kube-" + component;
  sender.user_agent = component == "kubelet" ? component : "kube-" + component;
  auto client = apiserver::MakeInProcessClient(env, deps.control_plane.handler, deps.control_plane.store,
                                               std::move(sender));
  if (deps.options.wrap_client) client = deps.options.wrap_client(std::move(client), component);
  return std::make_unique<DrainingClient>(std::move(client));
}

// The resources for controllers that work on all of them.
std::vector<controllers::ServedResource> ServedNow(const apiserver::ResourceTable& table) {
  std::vector<controllers::ServedResource> out;
  for (const apiserver::ResourceInfo& resource : table.all()) {
    if (resource.strategy == nullptr || !resource.HasVerb("delete") || !resource.HasVerb("watch")) continue;
    // The same objects under a second group or version are listed once.
    if (resource.stored_as != nullptr) {
      for (controllers::ServedResource& owner : out)
        if (owner.Name() == resource.storage && owner.group == resource.group)
          owner.other_versions.push_back(resource.version);
      continue;
    }
    out.push_back({resource.plural, resource.group, resource.version, resource.kind, resource.namespaced,
                   resource.Subresource("scale") != nullptr, resource.storage});
  }
  return out;
}

// Runs `refresh` on a lane after each change of the registry, as long as it lives.
class RegistryFollower : public std::enable_shared_from_this<RegistryFollower> {
 public:
  RegistryFollower(api::Executor& executor, std::function<void()> refresh)
      : executor_(executor), refresh_(std::move(refresh)) {}

  void Follow(apiserver::ResourceRegistry& registry) {
    listener_ = registry.OnChange([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Post();
    });
  }

 private:
  void Post() {
    executor_.Post([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->refresh_();
    });
  }

  api::Executor& executor_;
  std::function<void()> refresh_;
  std::unique_ptr<apiserver::ResourceRegistry::Listener> listener_;
};

class ControllerManagerRun : public ComponentRun {
 public:
  ControllerManagerRun(const ComponentDeps& deps, const RunParts& parts)
      : base_(deps, parts),
        registry_(deps.control_plane.handler.registry()),
        follower_(std::make_shared<RegistryFollower>(base_.env.executor, [this] { Refresh(); })) {
    follower_->Follow(registry_);
    resources_.Update(ServedNow(*registry_.Table()), nullptr);
    controllers::ControllerContext context{
        .env = base_.env,
        .client = *base_.client,
        .informers = base_.informers,
        .recorder = base_.recorder,
        .metrics = *base_.metrics,
        .why = deps.why,
        .http = deps.options.http_caller,
        .root_ca = deps.options.root_ca.empty() ? kPlaceholderCa : deps.options.root_ca};
    for (const controllers::ControllerEntry* entry : deps.controllers)
      controllers_.push_back(entry->make(context, resources_));
  }
  RunBase& base() override { return base_; }

 private:
  void Work() override {
    for (auto& controller : controllers_) controller->Start();
  }
  void Refresh() {
    resources_.Update(ServedNow(*registry_.Table()), [this](const controllers::ServedResource& gone) {
      base_.informers.Remove(gone.Name());
    });
  }

  RunBase base_;
  apiserver::ResourceRegistry& registry_;
  std::shared_ptr<RegistryFollower> follower_;
  controllers::ServedResources resources_;
  std::vector<std::unique_ptr<controllers::Controller>> controllers_;
};

class SchedulerRun : public ComponentRun {
 public:
  SchedulerRun(const ComponentDeps& deps, const RunParts& parts)
      : base_(deps, parts),
        scheduler_(base_.env, *base_.client, base_.informers, base_.recorder, *base_.metrics, deps.why) {}
  RunBase& base() override { return base_; }

 private:
  void Work() override { scheduler_.Start(); }

  RunBase base_;
  kubelet_fake::Scheduler scheduler_;
};

class KubeletRun : public ComponentRun {
 public:
  KubeletRun(const ComponentDeps& deps, const RunParts& parts)
      : base_(deps, parts),
        nodes_(base_.env, *base_.client, base_.informers, base_.recorder, deps.options.nodes),
        kubelet_(base_.env, *base_.client, base_.informers, base_.recorder, nodes_, deps.options.pods) {}
  RunBase& base() override { return base_; }
  std::optional<KubeletControls> kubelet() override { return KubeletControls{kubelet_.rules(), nodes_}; }
  void Leave(ComponentDeps& deps) override { deps.options.nodes.failed = nodes_.FailedNodes(); }

 private:
  void Work() override {
    nodes_.Start();
    kubelet_.Start();
  }

  RunBase base_;
  kubelet_fake::NodeAgent nodes_;
  kubelet_fake::Kubelet kubelet_;
};

}  // namespace

RunBase::RunBase(const ComponentDeps& deps, const RunParts& parts)
    : gates(parts.gates),
      metrics(parts.metrics),
      env{deps.control_plane.apiserver.clock, parts.executor, parts.prng, gates,
          deps.control_plane.apiserver.log},
      client(MakeClient(deps, env, parts.name)),
      informers(env, *client),
      events_env{deps.control_plane.apiserver.clock, parts.events_executor, parts.prng, gates,
                 deps.control_plane.apiserver.log},
      events_client(MakeClient(deps, events_env, parts.name)),
      recorder(events_env, *events_client) {}

void ComponentRun::Begin() {
  base().informers.OnSynced([this] { Work(); });
  base().informers.Start();
}

std::unique_ptr<ComponentRun> MakeControllerManager(const ComponentDeps& deps, const RunParts& parts) {
  return std::make_unique<ControllerManagerRun>(deps, parts);
}
std::unique_ptr<ComponentRun> MakeScheduler(const ComponentDeps& deps, const RunParts& parts) {
  return std::make_unique<SchedulerRun>(deps, parts);
}
std::unique_ptr<ComponentRun> MakeKubelet(const ComponentDeps& deps, const RunParts& parts) {
  return std::make_unique<KubeletRun>(deps, parts);
}

}  // namespace terrarium::testbed
