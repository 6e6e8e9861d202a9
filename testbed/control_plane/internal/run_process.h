#pragma once

// The process of a component beside the apiserver: a ComponentRun with executors of its own.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "api/base/executor.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "controllers/runtime/metrics.h"
#include "testbed/control_plane/internal/component.h"
#include "testbed/control_plane/internal/component_run.h"

namespace terrarium::testbed {

using RunMaker = std::unique_ptr<ComponentRun> (*)(const ComponentDeps&, const RunParts&);

class RunProcess : public ComponentProcess {
 public:
  // `deps` outlive it.
  RunProcess(std::string_view name, RunMaker make, ComponentDeps& deps);
  // REQUIRES: no thread runs the lanes any more.
  ~RunProcess() override;

  void Make(const api::FeatureGates& gates) override;
  void Begin(std::function<void()> synced) override;
  void End(const Ending& how, std::function<void()> ended) override;
  api::Executor& executor() override;

  api::Executor& lane() { return lane_; }
  // nullptr: it does not run. On the lane.
  ComponentRun* run() { return run_.get(); }
  // nullptr: it does not run. Thread-safe.
  std::shared_ptr<controllers::Metrics> Metrics() const;
  // While the apiserver is down the timers of the component are housekeeping. Thread-safe.
  void SetServerDown(bool down);

 private:
  // The executors of one start.
  struct Executors {
    Executors(api::Executor& lane, api::Executor& events_lane, const api::Clock& clock)
        : main(lane, clock), events(events_lane, clock) {}
    InstanceExecutor main;
    InstanceExecutor events;
  };
  void Destroy();

  const std::string name_;
  const RunMaker make_;
  ComponentDeps& deps_;
  api::Prng prng_;  // continues from run to run
  api::Executor& lane_;
  api::Executor& events_lane_;
  std::unique_ptr<ComponentRun> run_;  // nullptr: stopped

  mutable std::mutex mutex_;
  std::shared_ptr<controllers::Metrics> metrics_;  // of the run; nullptr: stopped
  bool server_down_ = false;
  // The last ones are those of the latest run. Earlier ones stay, since responses and wake-ups for them may
  // still arrive.
  std::deque<Executors> executors_;
};

}  // namespace terrarium::testbed
