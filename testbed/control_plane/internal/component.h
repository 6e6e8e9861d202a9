#pragma once

// The state machine that every component follows, the apiserver included: it is stopped or running, has
// gates, and is changed by one change at a time.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "api/base/executor.h"
#include "api/base/feature_gates.h"
#include "testbed/control_plane/component_change.h"
#include "testbed/control_plane/components.h"

namespace terrarium::testbed {

// The process of a running component. Called on the component's lane, or by the only thread.
class ComponentProcess {
 public:
  struct Ending {
    bool crash = false;  // requests in flight are abandoned
    // Whether to wait for work in progress and, unless it is a crash, for the responses to requests already
    // sent. Otherwise the process has ended when End() returns. REQUIRES: set, unless the caller is the only
    // thread and not a piece of work.
    bool wait = true;
  };

  virtual ~ComponentProcess() = default;
  // Constructs the process without running it. REQUIRES: there is none.
  virtual void Make(const api::FeatureGates& gates) = 0;
  // Begins its work. `synced` is called when its informers have synced, possibly before this returns.
  virtual void Begin(std::function<void()> synced) = 0;
  // Calls `ended` when the process is gone, possibly before this returns.
  virtual void End(const Ending& how, std::function<void()> ended) = 0;
  // For work of the process; drops it once the process has ended.
  virtual api::Executor& executor() = 0;
};

class Component {
 public:
  // Stopped. All referents outlive the component, and no thread runs the lane when it is destroyed.
  Component(std::string_view name, const api::FeatureGates& gates, const ControlPlaneParts& control_plane,
            api::Executor& lane, ComponentProcess& process);

  // Thread-safe.
  ComponentInfo Info() const;
  // The first start: the process begins its work now, or on the lane.
  void Start();
  void StartOnLane();
  // `changed` is called after a change that started or stopped the component; not for a restart. Set before
  // the first.
  void OnStartOrStop(std::function<void(bool running)> changed) { on_start_or_stop_ = std::move(changed); }

  // Begins the change on the lane, after the changes before it, and calls `done` there when it is made.
  // Thread-safe.
  void Change(ComponentChange change, ChangeDone done);
  // The same, synchronously. `drain` is called before a valid change; the work that it runs may crash the
  // component. REQUIRES: the caller is the only thread and not a piece of work.
  ChangeResult ChangeNow(const ComponentChange& change, const std::function<void()>& drain);
  // Runs `work` on the lane when no change is being made. Thread-safe.
  void PostBetweenChanges(std::function<void()> work);

 private:
  // The one way from a state to the next: check, drain, end, record the gates, start. Without `drain` it ends
  // the process asynchronously, after the process's work in progress.
  void Apply(const ComponentChange& change, const std::function<void()>& drain, const ChangeDone& done);
  void Complete(const ChangePlan& plan);
  void Make();
  void Begin();
  void RunBetweenChanges(std::function<void()> work);

  const ControlPlaneParts control_plane_;
  api::Executor& lane_;
  ComponentProcess& process_;
  std::function<void(bool)> on_start_or_stop_;
  bool changing_ = false;                      // used on the lane only, as is the next
  std::deque<std::function<void()>> waiting_;  // for the change to be made

  mutable std::mutex mutex_;
  ComponentInfo info_;  // guarded by mutex_
};

}  // namespace terrarium::testbed
