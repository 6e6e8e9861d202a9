#pragma once

// The components: the apiserver, and beside it controller-manager, scheduler and kubelet, each on its own
// lane with its own client, gates, informers and stream of random numbers. Each can be stopped, crashed and
// started again, with other gates, while the others keep running: docs/components.md.

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
#include "api/container_usage.h"
#include "api/object.h"
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
  // nullptr: a controller reports every call as failed.
  api::HttpCaller* http_caller = nullptr;
  // PEM certificates by which pods verify the apiserver, for kube-root-ca.crt. Empty: a placeholder.
  std::string root_ca = {};
};

// The parts of the kubelet that the control API uses, on its lane.
struct KubeletControls {
  kubelet_fake::PodRules& pods;
  kubelet_fake::NodeAgent& nodes;
};

// The parts of a control plane that its components need.
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
  // All referents outlive the components. The apiserver is started; the others begin their work on their
  // lanes. Fails when `options` name an unknown controller. REQUIRES: the handler is down.
  static api::Result<std::unique_ptr<Components>> Make(const ControlPlaneParts& control_plane,
                                                       const ComponentOptions& options);
  // REQUIRES: no thread runs the lanes any more.
  ~Components();

  // All of them, by name, running or not. Thread-safe.
  std::vector<ComponentInfo> List() const;
  std::optional<ComponentInfo> Find(std::string_view component) const;

  // Begins the change and calls `done` on the component's lane when it is complete; for an unknown component,
  // before this returns. Changes of one component happen one after the other. Thread-safe.
  void Change(const std::string& component, ComponentChange change, ChangeDone done);
  // The same, synchronously; it does not wait for requests of the component in flight. `drain` is called
  // before a valid change. REQUIRES: no other thread runs the control plane, and the caller is not a piece of
  // its work.
  ChangeResult ChangeNow(const std::string& component, const ComponentChange& change,
                         const std::function<void()>& drain);

  // Runs `work` on the kubelet's lane, with nullptr when it does not run. False: there is no kubelet.
  // Thread-safe.
  bool OnKubelet(std::function<void(const KubeletControls* kubelet)> work);
  // The same for a caller on that lane, or on the only thread. nullopt: it does not run.
  std::optional<KubeletControls> kubelet();

  // The output of a container. Thread-safe.
  std::shared_ptr<api::ContainerLog> PodLog(const api::ObjectName& pod, const std::string& container,
                                            bool previous) const;
  // What the running containers of a pod use; nullopt: no kubelet runs, or it does not know the pod.
  // Thread-safe.
  std::optional<std::vector<api::ContainerUsage>> PodUsage(const api::Object& pod) const;
  // Why no controller acts on the objects of a resource, for messages. Empty: one does, or none is expected
  // to.
  std::string WhyNothingActsOn(std::string_view resource) const;
  // The controllers' why records, which survive restarts.
  controllers::WhyLog& why();
  // Prometheus text of all components that run; counters start at zero with each start. Thread-safe.
  std::string MetricsText() const;

 private:
  class Impl;
  explicit Components(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrarium::testbed
