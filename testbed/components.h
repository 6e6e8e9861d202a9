#pragma once

// The components beside the apiserver: controller-manager, scheduler and kubelet, each on its own lane with its own
// client, gates, informers and stream of random numbers. Each can be stopped, crashed and started again, with other
// gates, while the others go on: docs/components.md.

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
#include "kubelet-fake/kubelet/kubelet.h"
#include "kubelet-fake/nodes/node_agent.h"
#include "testbed/component_change.h"
#include "testbed/runtime.h"

namespace terrarium::api {
class HttpCaller;
}
namespace terrarium::apiserver {
class GateLog;
class Handler;
}
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
  // Puts something around each component's client, to look at its requests. Called for each start. Empty: nothing.
  std::function<std::unique_ptr<api::Client>(std::unique_ptr<api::Client> client, const std::string& component)>
      wrap_client = {};
  // How the controllers call services that users run, such as a downscalePodPicker; outlives the components. nullptr:
  // there is no way to call them, which a controller reports like a call that failed.
  api::HttpCaller* http_caller = nullptr;
};

// What the control API may ask of the kubelet, on its lane.
struct KubeletControls {
  kubelet_fake::PodRules& pods;
  kubelet_fake::NodeAgent& nodes;
};

// The plane that components are made for.
struct PlaneParts {
  Runtime& runtime;
  const api::Env& apiserver;  // its clock and log
  api::Prng& prng;            // from which the components' own streams are forked
  apiserver::Handler& handler;
  storage::Store& store;
  apiserver::GateLog& gate_log;
};

class Components {
 public:
  // What is referred to outlives the components. They begin their work on their lanes. Fails when `options` name a
  // controller that nobody knows.
  static api::Result<std::unique_ptr<Components>> Make(const PlaneParts& plane, const ComponentOptions& options);
  // REQUIRES: nobody runs the lanes any more.
  ~Components();

  // Those there are, by name, running or not. Thread-safe.
  std::vector<ComponentInfo> List() const;
  std::optional<ComponentInfo> Find(std::string_view component) const;

  // Begins the change and calls `done` when it has been made, on the component's lane or at once; changes of one
  // component come one after the other. Thread-safe.
  void Change(const std::string& component, ComponentChange change, ChangeDone done);
  // The same, made when it returns: nothing that the component had under way is waited for.
  // REQUIRES: the caller is the only thread there is, and in no piece of work.
  ChangeResult ChangeNow(const std::string& component, const ComponentChange& change);
  // Whether there is no apiserver to work for: a plane whose components wait only for their timers is idle then.
  // Thread-safe.
  void SetInVain(bool in_vain);

  // Runs `work` on the kubelet's lane, with nullptr when it does not run. False: there is no kubelet. Thread-safe.
  bool OnKubelet(std::function<void(const KubeletControls* kubelet)> work);
  // The same for a caller that is on that lane, or the only thread there is. nullopt: it does not run.
  std::optional<KubeletControls> kubelet();

  // What a container has printed. Thread-safe.
  std::optional<std::string> PodLog(const std::string& ns, const std::string& pod, const std::string& container) const;
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
