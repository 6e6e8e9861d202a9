#pragma once

// One run of a component beside the apiserver, from its start to its end.

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
#include "testbed/components.h"
#include "testbed/instance_executor.h"
#include "testbed/internal/draining_client.h"

namespace terrarium::testbed {

// Where components live, and what outlasts their runs.
struct Surroundings {
  PlaneParts plane;
  controllers::WhyLog& why;
  ComponentOptions options;  // with the rules, containers and failed nodes as the last kubelet left them
  std::vector<const controllers::ControllerEntry*> controllers;
};

// What a run is given for itself.
struct RunParts {
  std::string name;
  api::FeatureGates gates;
  api::Prng& prng;
  InstanceExecutor& executor;
  InstanceExecutor& events_executor;
  std::shared_ptr<controllers::Metrics> metrics;
};

// What every run is made of.
struct RunBase {
  RunBase(const Surroundings& at, const RunParts& parts);

  const api::FeatureGates gates;
  const std::shared_ptr<controllers::Metrics> metrics;
  const api::Env env;
  const std::unique_ptr<DrainingClient> client;
  controllers::InformerSet informers;
  // Events are as many writes as all the rest, and nobody waits for them: they go on a lane of their own.
  const api::Env events_env;
  const std::unique_ptr<DrainingClient> events_client;
  controllers::EventRecorder recorder;
};

class ComponentRun {
 public:
  virtual ~ComponentRun() = default;
  virtual RunBase& base() = 0;
  // Lists everything, and works from when that has come, which is before this returns unless a list fails. On the lane.
  void Begin();
  virtual std::optional<KubeletControls> kubelet() { return std::nullopt; }
  // What the next run will have to know is put into the surroundings.
  virtual void Leave(Surroundings&) {}

 private:
  // All informers have synced.
  virtual void Work() = 0;
};

std::unique_ptr<ComponentRun> MakeControllerManager(const Surroundings& at, const RunParts& parts);
std::unique_ptr<ComponentRun> MakeScheduler(const Surroundings& at, const RunParts& parts);
std::unique_ptr<ComponentRun> MakeKubelet(const Surroundings& at, const RunParts& parts);

}  // namespace terrarium::testbed
