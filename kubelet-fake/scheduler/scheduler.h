#pragma once

// Assigns pods to nodes, as kube-scheduler's default profile does.
//
// Filters: spec.unschedulable, taints and tolerations, nodeSelector and required node affinity, host ports,
// requests against allocatable (with pods per node), claims and volumes, topology spread constraints,
// required pod affinity and anti-affinity. Scores: the resources, taints, preferred affinity and spreading of
// the default profile; ties are broken at random. With 100 nodes and more, each decision considers only a
// share of them, in turn. A pod that fits nowhere preempts less important ones where that helps.
// docs/scheduler.md has the rest.
//
// Not supported: devices, volume limits, image locality, further profiles.

#include <memory>

#include "api/base/env.h"
#include "api/client.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/why.h"

namespace terrarium::kubelet_fake {

// Lives on one lane with all its dependencies, which outlive it. It decides one pod at a time. A pod counts
// on its node from the decision on, while its bind is still in flight. The destructor stops abruptly.
class Scheduler {
 public:
  // Registers its informers and handlers.
  Scheduler(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
            controllers::EventRecorder& recorder, controllers::Metrics& metrics, controllers::WhyLog& why);
  ~Scheduler();

  // Begins to schedule. REQUIRES: the informers have synced.
  void Start();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace terrarium::kubelet_fake
