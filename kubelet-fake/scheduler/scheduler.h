#pragma once

// Finds nodes for pods, as kube-scheduler's default profile does.
//
// A node must pass: spec.unschedulable, taints and tolerations, nodeSelector and required node affinity, host ports,
// requests against allocatable (with pods per node), required pod affinity and anti-affinity by any topology key. Among
// those that do, the least allocated is preferred, with less weight than PreferNoSchedule taints and preferred node
// affinity; equals are drawn by lot. With 100 nodes and more, a share of them is looked at, in turn.
//
// Not modelled: preemption (a pod that needs the place of others waits until they go), topology spread constraints,
// preferred pod affinity, volumes, devices, image locality, further profiles.

#include <memory>

#include "api/base/env.h"
#include "api/client.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "controllers/runtime/metrics.h"

namespace terrarium::kubelet_fake {

// Lives on one lane with all it is given, which outlives it. One pod is decided at a time; binds are under way
// meanwhile, and their pods count on their nodes already. Destroyed, it stops where it is.
class Scheduler {
 public:
  // Registers its informers and handlers.
  Scheduler(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
            controllers::EventRecorder& recorder, controllers::Metrics& metrics);
  ~Scheduler();

  // Decides from now on. Called when the informers have synced.
  void Start();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace terrarium::kubelet_fake
