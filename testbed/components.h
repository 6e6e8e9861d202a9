#pragma once

// The components beside the apiserver: controller-manager, scheduler and kubelet, each on its own lane with its own
// client, gates, informers and stream of random numbers.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/base/status.h"
#include "api/client.h"
#include "kubelet-fake/kubelet/kubelet.h"
#include "kubelet-fake/nodes/node_agent.h"
#include "testbed/runtime.h"

namespace terrarium::api {
class HttpCaller;
}
namespace terrarium::apiserver {
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
  // Puts something around each component's client, to look at its requests. Empty: nothing.
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

class Components {
 public:
  // What is referred to outlives the components. They begin their work on their lanes. Fails when `options` name a
  // controller that nobody knows.
  static api::Result<std::unique_ptr<Components>> Make(Runtime& runtime, const api::Env& apiserver, api::Prng& prng,
                                                       apiserver::Handler& handler, storage::Store& store,
                                                       const ComponentOptions& options);
  // REQUIRES: nobody runs the lanes any more.
  ~Components();

  // nullptr for a component that is not there.
  const api::FeatureGates* GatesOf(const std::string& component) const;
  // Runs `work` on the kubelet's lane. False: there is no kubelet.
  bool OnKubelet(std::function<void(const KubeletControls&)> work);
  // The same for a caller that is on that lane, or the only thread there is. nullopt: there is no kubelet.
  std::optional<KubeletControls> kubelet();

  // What a container has printed. Thread-safe.
  std::optional<std::string> PodLog(const std::string& ns, const std::string& pod, const std::string& container) const;
  // What the controllers did, and why. It survives their restarts.
  controllers::WhyLog& why();
  // Prometheus text of all components. Thread-safe.
  std::string MetricsText() const;

 private:
  class Impl;
  explicit Components(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrarium::testbed
