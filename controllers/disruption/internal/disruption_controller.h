#pragma once

// Keeps the status of every PodDisruptionBudget.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/disruption/internal/budget_index.h"
#include "controllers/disruption/internal/budget_status.h"
#include "controllers/disruption/internal/controller_scales.h"
#include "controllers/disruption/internal/stale_conditions.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/key_timers.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers::disruption {

class DisruptionController : public std::enable_shared_from_this<DisruptionController> {
 public:
  DisruptionController(const ControllerContext& context, const ServedResources& resources);

  // Registers with the informers, which may outlive this.
  void Watch();
  void Start();

 private:
  void BudgetSeen(const api::Object* old, const api::Object& budget);
  void BudgetGone(const api::Object& budget);
  void PodSeen(const api::Object* old, const api::Object& pod);
  void PodGone(const api::Object& pod);

  api::Task<ReconcileResult> Sync(ObjectName name);
  // The status that the budget should have. Also records events.
  api::Result<api::Json> Compute(const api::Object& budget, const api::Json& document);
  api::Result<std::int64_t> ScaleOf(const SelectedPods& pods, const std::string& ns) const;
  api::Task<ReconcileResult> Write(api::ObjectPtr budget, api::Json status);
  void WarnNotDeleted(const api::Object& budget, const std::vector<std::string>& pods);
  void RecordEvent(const api::Object& budget, std::string_view type, std::string_view reason,
                   std::string message);

  ControllerContext context_;
  Informer& budgets_;
  Informer& pods_;
  ControllerScales scales_;
  BudgetIndex index_;
  ControllerLoop loop_;
  KeyTimers rechecks_;
  StaleConditions stale_;
};

}  // namespace terrarium::controllers::disruption
