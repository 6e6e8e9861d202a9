#pragma once

// Pods get the condition DisruptionTarget before they are deleted because of a disruption. If the deletion
// does not follow, the condition is set to False after a while.

#include <memory>
#include <optional>

#include "api/base/clock.h"
#include "api/base/task.h"
#include "api/json.h"
#include "api/object.h"
#include "controllers/controller.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/key_timers.h"

namespace terrarium::controllers::disruption {

inline constexpr api::Duration kStaleDisruptionTimeout = std::chrono::minutes(2);

// How long the pod's DisruptionTarget condition may stay True, at least zero; nullopt when it cannot be
// stale: the pod is terminating or has ended, or the kubelet has set the condition.
std::optional<api::Duration> DisruptionTargetStandsFor(const api::Json& pod, api::Time now);
void SetDisruptionTargetFalse(api::Json& pod, api::Time now);

class StaleConditions {
 public:
  explicit StaleConditions(const ControllerContext& context);

  void PodSeen(const api::Object& pod);
  void PodGone(const ObjectName& pod);
  void Start() { loop_.Start(); }

 private:
  api::Task<ReconcileResult> Sync(ObjectName name);

  ControllerContext context_;
  Informer& pods_;
  ControllerLoop loop_;
  KeyTimers timers_;
};

}  // namespace terrarium::controllers::disruption
