#include "testbed/internal/component_run.h"

#include <utility>

#include "apiserver/in_process_client.h"
#include "apiserver/resource_table.h"
#include "kubelet-fake/scheduler/scheduler.h"

namespace terrarium::testbed {
namespace {

std::unique_ptr<DrainingClient> MakeClient(const Surroundings& at, const api::Env& env, const std::string& component) {
  apiserver::UserInfo user;
  user.name = "system:kube-" + component;
  auto client = apiserver::MakeInProcessClient(env, at.plane.handler, at.plane.store, std::move(user));
  if (at.options.wrap_client) client = at.options.wrap_client(std::move(client), component);
  return std::make_unique<DrainingClient>(std::move(client));
}

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

class ControllerManagerRun : public ComponentRun {
 public:
  ControllerManagerRun(const Surroundings& at, const RunParts& parts) : base_(at, parts) {
    controllers::ControllerContext context{base_.env,       *base_.client, base_.informers,       base_.recorder,
                                           *base_.metrics,  at.why,        at.options.http_caller};
    const std::vector<controllers::ServedResource> resources = ServedResources();
    for (const controllers::ControllerEntry* entry : at.controllers)
      controllers_.push_back(entry->make(context, resources));
  }
  RunBase& base() override { return base_; }

 private:
  void Work() override {
    for (auto& controller : controllers_) controller->Start();
  }

  RunBase base_;
  std::vector<std::unique_ptr<controllers::Controller>> controllers_;
};

class SchedulerRun : public ComponentRun {
 public:
  SchedulerRun(const Surroundings& at, const RunParts& parts)
      : base_(at, parts), scheduler_(base_.env, *base_.client, base_.informers, base_.recorder, *base_.metrics) {}
  RunBase& base() override { return base_; }

 private:
  void Work() override { scheduler_.Start(); }

  RunBase base_;
  kubelet_fake::Scheduler scheduler_;
};

class KubeletRun : public ComponentRun {
 public:
  KubeletRun(const Surroundings& at, const RunParts& parts)
      : base_(at, parts),
        nodes_(base_.env, *base_.client, base_.informers, base_.recorder, at.options.nodes),
        kubelet_(base_.env, *base_.client, base_.informers, base_.recorder, nodes_, at.options.pods) {}
  RunBase& base() override { return base_; }
  std::optional<KubeletControls> kubelet() override { return KubeletControls{kubelet_.rules(), nodes_}; }
  void Leave(Surroundings& at) override { at.options.nodes.failed = nodes_.FailedNodes(); }

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

RunBase::RunBase(const Surroundings& at, const RunParts& parts)
    : gates(parts.gates),
      metrics(parts.metrics),
      env{at.plane.apiserver.clock, parts.executor, parts.prng, gates, at.plane.apiserver.log},
      client(MakeClient(at, env, parts.name)),
      informers(env, *client),
      events_env{at.plane.apiserver.clock, parts.events_executor, parts.prng, gates, at.plane.apiserver.log},
      events_client(MakeClient(at, events_env, parts.name)),
      recorder(events_env, *events_client) {}

void ComponentRun::Begin() {
  base().informers.OnSynced([this] { Work(); });
  base().informers.Start();
}

std::unique_ptr<ComponentRun> MakeControllerManager(const Surroundings& at, const RunParts& parts) {
  return std::make_unique<ControllerManagerRun>(at, parts);
}
std::unique_ptr<ComponentRun> MakeScheduler(const Surroundings& at, const RunParts& parts) {
  return std::make_unique<SchedulerRun>(at, parts);
}
std::unique_ptr<ComponentRun> MakeKubelet(const Surroundings& at, const RunParts& parts) {
  return std::make_unique<KubeletRun>(at, parts);
}

}  // namespace terrarium::testbed
