#pragma once

// Watches HorizontalPodAutoscalers and syncs each every 15 seconds. The decisions are in the other headers of
// this folder.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "api/selector/label_selector.h"
#include "controllers/controller.h"
#include "controllers/horizontal_pod_autoscaler/internal/autoscaler_metrics.h"
#include "controllers/horizontal_pod_autoscaler/internal/autoscaler_spec.h"
#include "controllers/horizontal_pod_autoscaler/internal/metric_status.h"
#include "controllers/horizontal_pod_autoscaler/internal/replica_calculator.h"
#include "controllers/horizontal_pod_autoscaler/internal/scale_history.h"
#include "controllers/horizontal_pod_autoscaler/internal/scale_target.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/key_timers.h"
#include "controllers/runtime/selector_index.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers::autoscaler {

class HorizontalPodAutoscalerController
    : public std::enable_shared_from_this<HorizontalPodAutoscalerController> {
 public:
  HorizontalPodAutoscalerController(const ControllerContext& context, const ServedResources& resources);

  // Registers with the informers, which may outlive this controller.
  void Watch();
  void Start() { loop_.Start(); }

 private:
  struct SyncState;
  using SyncStatePtr = std::shared_ptr<SyncState>;
  // The pods of a target, with their documents.
  using Pods = std::vector<std::shared_ptr<const Json>>;

  // The size that one metric asks for. On failure `reason` is that of the condition ScalingActive.
  struct MetricOutcome {
    std::optional<Proposal> proposal;
    std::string name;    // for events
    std::string reason;  // the rest is set on failure
    std::string message;
    std::string prefix;  // before the message, in the event about the whole sync
    bool spec_error = false;
  };
  // What all of them ask for together.
  struct Decision {
    std::optional<Proposal> proposal;  // nullopt: the sync ends
    std::string metric;
    std::string error;  // of the metrics that failed; empty: none
  };

  // horizontal_pod_autoscaler_controller.cc: handlers of informer events, and reports.
  void Added(const ObjectName& name);
  void Changed(const api::Object& old, const api::Object& autoscaler);
  void Gone(const ObjectName& name);
  void RecordEvent(const SyncState& sync, std::string_view type, std::string_view reason,
                   std::string message);
  void Explain(const SyncState& sync, int to, const std::string& rule);

  // autoscaler_sync.cc: one sync of an autoscaler, step by step.
  api::Task<ReconcileResult> Sync(ObjectName name);
  api::Task<void> Run(SyncStatePtr sync);
  bool DecideSize(SyncState& sync);
  bool DecideByMetrics(SyncState& sync);
  api::Task<bool> Rescale(SyncStatePtr sync);
  void NoteScaledToZero(SyncState& sync);
  api::Task<void> WriteStatus(SyncStatePtr sync);

  // autoscaler_metrics_sync.cc: the metrics of a sync.
  Decision Evaluate(SyncState& sync);
  std::optional<api::LabelSelector> SelectorOf(SyncState& sync);
  void RefuseSelector(SyncState& sync, std::string_view event, const std::string& why,
                      const std::string& condition);
  MetricOutcome EvaluateMetric(const SyncState& sync, const Json& metric, const Pods& pods);
  api::Result<Proposal> EvaluateResource(const SyncState& sync, const Json& source, const Pods& pods);
  api::Result<PodMetrics> ReadMetrics(const Pods& pods, const std::string& resource,
                                      const std::string& container);

  api::Time Now() const { return context_.env.clock.Now(); }

  ControllerContext context_;
  const ServedResources& resources_;
  Informer& autoscalers_;
  Informer& pods_;
  AutoscalerMetrics metrics_;
  std::map<ObjectName, ScaleHistory> histories_;
  SelectorIndex selectors_;  // of the targets of all autoscalers
  KeyTimers syncs_;
  ControllerLoop loop_;  // last member: its reconciles use all of the above
};

// One sync. It acts on the state that it read at its start.
struct HorizontalPodAutoscalerController::SyncState {
  SyncState(ObjectPtr read, const api::FeatureGates& gates, api::Time time);

  ObjectName Name() const { return autoscaler->name(); }
  void Set(std::string_view type, bool status, std::string_view reason, std::string message) {
    SetCondition(status_now["conditions"], {type, status, reason, std::move(message)}, now);
  }
  void FinishStatus(int desired);

  ObjectPtr autoscaler;
  std::shared_ptr<const Json> document;
  AutoscalerSpec spec;
  api::Time now;
  Json status_before;
  Json status_now;  // to be written
  Json current_metrics = Json::array();
  ScaleTarget target;
  int desired = 0;
  std::string rescale_reason;
  bool scales_to_zero = false;  // the gate HPAScaleToZero is on
  bool was_scaled_to_zero = false;
  std::optional<Proposal> proposal;  // for reports
  Ending ending;
  bool waits = false;    // time alone will bring the next change
  bool changed = false;  // this sync has written something
};

}  // namespace terrarium::controllers::autoscaler
