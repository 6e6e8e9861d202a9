#pragma once

// The fake kubelet of all nodes: takes every pod that has a node through its life, as its script says, and writes the
// status that Kubernetes 1.36's kubelet would write. docs/kubelet.md has the story.

#include <memory>
#include <optional>
#include <string>

#include "api/base/env.h"
#include "api/client.h"
#include "api/pod_script/pod_script.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "kubelet-fake/kubelet/node_view.h"
#include "kubelet-fake/kubelet/pod_rules.h"

namespace terrarium::kubelet_fake {

class ContainerRuntime;

struct KubeletOptions {
  api::PodScript defaults = {};  // what neither a pod's annotations nor a rule says
  bool events = true;            // record Events (Pulled, Created, Started, Killing, ...) about pods
  // Rules and holds, for whoever wants them to outlive this kubelet; made when there are none.
  std::shared_ptr<RuleBook> rule_book = nullptr;
  // The same for containers.
  std::shared_ptr<ContainerRuntime> containers = nullptr;
};

// Lives on the kubelet's lane, like everything it is given. Constructed: registers with the pod informer. Started, when
// that has synced: works. Pods that an earlier kubelet left are taken up, from the container runtime that both were given
// or else from their status: containers that run go on, counts are kept. Destroyed: stops where it is, without a goodbye.
class Kubelet {
 public:
  Kubelet(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
          controllers::EventRecorder& recorder, NodeView& nodes, KubeletOptions options);
  ~Kubelet();

  void Start();
  PodRules& rules();
  // What the container has printed (terrarium.dev/log), nothing for one without a log; nullopt when it has not started
  // or is not known. May be called on any thread.
  std::optional<std::string> Log(const std::string& ns, const std::string& pod, const std::string& container) const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with answers under way, which may come after the kubelet has gone
};

}  // namespace terrarium::kubelet_fake
