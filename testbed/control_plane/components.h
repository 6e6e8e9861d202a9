#pragma once

// The components: the apiserver, and beside it controller-manager, scheduler and kubelet, each on its own
// lane with its own client, gates, informers and stream of random numbers. Each can be stopped, crashed and
// started again, with other gates, while the others go on: docs/components.md.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/base/status.h"
#include "api/client.h"
#include "api/container_log.h"
#include "api/object_name.h"
#include "kubelet-fake/kubelet/kubelet.h"
#include "kubelet-fake/nodes/node_agent.h"
#include "testbed/control_plane/component_change.h"
#include "testbed/runtime/runtime.h"

namespace terrarium::api {
class HttpCaller;
}
namespace terrarium::apiserver {
class GateLog;
class RestartableHandler;
}  // namespace terrarium::apiserver
namespace terrarium::controllers {
class WhyLog;
}
namespace terrarium::storage {
class Store;
}

namespace terrarium::testbed {

struct ComponentOptions {
  std::string controllers = "*";  // kube-controller-manager's syntax
  bool scheduler = true;
  bool kubelet = true;
  kubelet_fake::NodeAgentOptions nodes = {};
  kubelet_fake::KubeletOptions pods = {};
  api::FeatureGates controller_manager_gates = {};
  api::FeatureGates kubelet_gates = {};
  api::FeatureGates scheduler_gates = {};
  // Wraps the client of each component, to observe its requests. Called for each start. Empty: no wrapper.
  std::function<std::unique_ptr<api::Client>(std::unique_ptr<api::Client> client,
                                             const std::string& component)>
      wrap_client = {};
  // How the controllers call services that users run, such as a downscalePodPicker; outlives the components.
  // nullptr: there is no way to call them, which a controller reports like a call that failed.
  api::HttpCaller* http_caller = nullptr;
};

// What the control API may ask of the kubelet, on its lane.
struct KubeletControls {
  kubelet_fake::PodRules& pods;
  kubelet_fake::NodeAgent& nodes;
};

// The control plane that components are made for.
struct ControlPlaneParts {
  Runtime& runtime;
  const api::Env& apiserver;  // its clock, log, lane and first gates
  api::Prng& prng;            // from which the components' own streams are forked
  apiserver::RestartableHandler& handler;
  storage::Store& store;
  apiserver::GateLog& gate_log;
};

class Components {
 public:
  // What is referred to outlives the components. The apiserver is started; the others begin their work on
  // their lanes. Fails when `options` name an unknown controller. REQUIRES: the handler is down.
  static api::Result<std::unique_ptr<Components>> Make(const ControlPlaneParts& control_plane,
                                                       const ComponentOptions& options);
  // REQUIRES: no thread runs the lanes any more.
  ~Components();

  // All of them, by name, running or not. Thread-safe.
  std::vector<ComponentInfo> List() const;
  std::optional<ComponentInfo> Find(std::string_view component) const;

  // Begins the change and calls `done` when it has been made, on the component's lane, or before this returns
  // if there is no such component; changes of one component are made one after the other. Thread-safe.
  void Change(const std::string& component, ComponentChange change, ChangeDone done);
  // The same, made when it returns; it does not wait for requests of the component that are in flight.
  // `drain` is called before a change that is allowed is made. REQUIRES: the caller is the only thread there
  // is, and in no piece of work.
  ChangeResult ChangeNow(const std::string& component, const ComponentChange& change,
                         const std::function<void()>& drain);

  // Runs `work` on the kubelet's lane, with nullptr when it does not run. False: there is no kubelet.
  // Thread-safe.
  bool OnKubelet(std::function<void(const KubeletControls* kubelet)> work);
  // The same for a caller that is on that lane, or the only thread there is. nullopt: it does not run.
  std::optional<KubeletControls> kubelet();

  // What a container has printed. Thread-safe.
  std::shared_ptr<api::ContainerLog> PodLog(const api::ObjectName& pod, const std::string& container,
                                            bool previous) const;
  // What the controllers did, and why. It survives their restarts.
  controllers::WhyLog& why();
  // Prometheus text of all components that run; what they count begins at zero with each start. Thread-safe.
  std::string MetricsText() const;

 private:
  class Impl;
  explicit Components(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrarium::testbed
