#pragma once

// Removes the tracking finalizer from pods that no Job will count: their Job is gone or finished, or they
// have no controller.

#include "api/base/task.h"
#include "controllers/controller.h"
#include "controllers/runtime/controller_loop.h"

namespace terrarium::controllers::job {

class OrphanPods {
 public:
  explicit OrphanPods(const ControllerContext& context);

  // Enqueues a pod that has the finalizer and may be such a pod.
  void Add(const ObjectName& pod) { loop_.queue().Add(pod); }
  void Start() { loop_.Start(); }

 private:
  api::Task<ReconcileResult> Sync(ObjectName name);

  ControllerContext context_;
  ControllerLoop loop_;
};

}  // namespace terrarium::controllers::job
