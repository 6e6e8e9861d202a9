#pragma once

// The one place that maps a reconcile's outcome to its queue.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/base/env.h"
#include "api/base/status.h"
#include "api/base/task.h"
#include "api/object_name.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/work_queue.h"

namespace terrarium::controllers {

// The result of a successful reconcile.
struct Reconciled {
  std::optional<api::Duration> again_after;

  static Reconciled Done() { return {}; }
  static Reconciled RequeueAfter(api::Duration delay) { return {delay}; }
};
using ReconcileResult = api::Result<Reconciled>;
using Reconcile = std::function<api::Task<ReconcileResult>(ObjectName key)>;

struct LoopOptions {
  std::string name;  // label `name` of the queue's metrics, as Kubernetes names that queue
  int workers = 5;   // reconciles in progress at a time, at most one per key
  RetryLimits retry = {};
  // The number of retries of a failing key, after which it is logged and dropped until it is added again; 0:
  // unlimited.
  int retries_max = 0;
};

// Passes ready keys to the reconcile function. Done resets the key's backoff. RequeueAfter resets it and adds
// the key again after that time. A Status adds the key again with backoff and is logged, unless it is a
// conflict, which only means that the view was stale. Single-threaded, on the lane of `env`; the destructor
// abandons reconciles where they wait.
class ControllerLoop {
 public:
  ControllerLoop(const api::Env& env, Metrics& metrics, LoopOptions options, Reconcile reconcile);
  ~ControllerLoop();

  WorkQueue& queue();
  // Starts to process keys. Called when the informers have synced.
  void Start();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace terrarium::controllers
