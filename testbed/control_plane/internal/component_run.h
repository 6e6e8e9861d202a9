#pragma once

// One run of a component other than the apiserver, from its start to its end.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "controllers/controller_table.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/why.h"
#include "testbed/control_plane/components.h"
#include "testbed/control_plane/internal/draining_client.h"
#include "testbed/runtime/instance_executor.h"

namespace terrarium::testbed {

// The dependencies of the components other than the apiserver, and the state that outlives their runs.
struct ComponentDeps {
  ControlPlaneParts control_plane;
  controllers::WhyLog& why;
  ComponentOptions options;  // with the rules, containers and failed nodes as the last kubelet left them
  std::vector<const controllers::ControllerEntry*> controllers;
};

// The dependencies of a single run.
struct RunParts {
  std::string name;
  api::FeatureGates gates;
  api::Prng& prng;
  InstanceExecutor& executor;
  InstanceExecutor& events_executor;
  std::shared_ptr<controllers::Metrics> metrics;
};

// The parts that every run has.
struct RunBase {
  RunBase(const ComponentDeps& deps, const RunParts& parts);

  const api::FeatureGates gates;
  const std::shared_ptr<controllers::Metrics> metrics;
  const api::Env env;
  const std::unique_ptr<DrainingClient> client;
  controllers::InformerSet informers;
  // Events are half of all writes, and no component waits for them, so they have a lane of their own.
  const api::Env events_env;
  const std::unique_ptr<DrainingClient> events_client;
  controllers::EventRecorder recorder;
};

class ComponentRun {
 public:
  virtual ~ComponentRun() = default;
  virtual RunBase& base() = 0;
  // Starts the informers' lists and calls Work() when all have synced: before this returns, unless a list
  // fails. Call on the lane.
  void Begin();
  virtual std::optional<KubeletControls> kubelet() { return std::nullopt; }
  // Stores in the dependencies what the next run needs.
  virtual void Leave(ComponentDeps&) {}

 private:
  // All informers have synced.
  virtual void Work() = 0;
};

std::unique_ptr<ComponentRun> MakeControllerManager(const ComponentDeps& deps, const RunParts& parts);
std::unique_ptr<ComponentRun> MakeScheduler(const ComponentDeps& deps, const RunParts& parts);
std::unique_ptr<ComponentRun> MakeKubelet(const ComponentDeps& deps, const RunParts& parts);

}  // namespace terrarium::testbed
