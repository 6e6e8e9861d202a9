#pragma once

// The fake kubelet of all nodes. It runs every pod that has a node according to the pod's script and writes
// the status that the kubelet of Kubernetes 1.36 would write. See docs/kubelet.md.

#include <memory>
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
  api::PodScript defaults = {};  // for fields that neither a pod's annotations nor a rule sets
  bool events = true;            // record Events (Pulled, Created, Started, Killing, ...) about pods
  // Rules and holds. Share the book between kubelets to keep them across restarts. Null: the kubelet makes
  // its own.
  std::shared_ptr<RuleBook> rule_book = nullptr;
  // The same for the containers.
  std::shared_ptr<ContainerRuntime> containers = nullptr;
};

// Lives on the kubelet's lane, like all its dependencies. The constructor registers with the pod informer.
// Call Start() when that informer has synced. The kubelet takes over pods of an earlier kubelet: from the
// container runtime that both share, or else from their status. Running containers keep running and restart
// counts are kept. The destructor stops abruptly, without stopping any container.
class Kubelet {
 public:
  Kubelet(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
          controllers::EventRecorder& recorder, NodeView& nodes, KubeletOptions options);
  ~Kubelet();

  void Start();
  PodRules& rules();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with pending responses, which may outlive the kubelet
};

}  // namespace terrarium::kubelet_fake
