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

// What a successful reconcile leaves to be done.
struct Reconciled {
  std::optional<api::Duration> again_after;

  static Reconciled Done() { return {}; }
  static Reconciled RequeueAfter(api::Duration delay) { return {delay}; }
};
using ReconcileResult = api::Result<Reconciled>;
using Reconcile = std::function<api::Task<ReconcileResult>(ObjectName key)>;

struct LoopOptions {
  std::string name;  // label `name` of the queue's metrics, as Kubernetes names that queue
  int workers = 5;   // reconciles under way at a time; of one key never more than one
  RetryLimits retry = {};
  // A key that fails is tried again this often, then dropped until something adds it again, which is logged;
  // 0: tried without end.
  int retries_max = 0;
};

// Hands ready keys to the reconcile function. Done: the key's backoff is forgotten. RequeueAfter: forgotten,
// and again after that time. A Status: again with backoff; it is logged unless it is a conflict, which only
// means that the view was stale. Single-threaded, on the lane of `env`; destroying it ends reconciles where
// they wait.
class ControllerLoop {
 public:
  ControllerLoop(const api::Env& env, Metrics& metrics, LoopOptions options, Reconcile reconcile);
  ~ControllerLoop();

  WorkQueue& queue();
  // Keys are handed out from now on; until then they pile up. Called when the informers have synced.
  void Start();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace terrarium::controllers
