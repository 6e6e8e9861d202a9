// One sync of a HorizontalPodAutoscaler.

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/horizontal_pod_autoscaler/internal/horizontal_pod_autoscaler_controller.h"
#include "controllers/horizontal_pod_autoscaler/internal/normalization.h"

namespace terrarium::controllers::autoscaler {
namespace {

using api::Task;

// client-go retries a conflict this often before it gives up.
constexpr int kScaleAttempts = 5;

constexpr const char* kInternal = "internal";

}  // namespace

Task<void> HorizontalPodAutoscalerController::Run(SyncStatePtr sync) {
  bool bad_reference = false;
  auto target = ReadScale(context_.client, resources_, sync->Name().ns, sync->spec.target, &bad_reference);
  if (!target) {
    const std::string& why = target.status().message;
    RecordEvent(*sync, kWarning, "FailedGetScale", why);
    sync->Set("AbleToScale", false, "FailedGetScale",
              "the HPA controller was unable to get the target's current scale: " + why);
    sync->ending.error = bad_reference ? "spec" : kInternal;
    co_return co_await WriteStatus(sync);
  }
  sync->target = std::move(*target);
  sync->Set("AbleToScale", true, "SucceededGetScale",
            "the HPA controller was able to get the target's current scale");
  histories_[sync->Name()].RecordFirst(sync->target.replicas, sync->now);

  const int current = sync->target.replicas;
  if (!DecideSize(*sync)) {
    sync->FinishStatus(static_cast<int>(api::IntAt(sync->status_before, 0, "desiredReplicas")));
    co_return co_await WriteStatus(sync);
  }
  const bool rescales = sync->desired != current;
  if (rescales) {
    const bool done = co_await Rescale(sync);
    if (!done) {
      sync->FinishStatus(static_cast<int>(api::IntAt(sync->status_before, 0, "desiredReplicas")));
      co_return co_await WriteStatus(sync);
    }
  }
  sync->FinishStatus(sync->desired);
  if (rescales) sync->status_now["lastScaleTime"] = api::FormatTime(sync->now);
  metrics_.SetDesired(sync->Name(), sync->desired);
  co_await WriteStatus(sync);
}

// Sets the size that the target should have and why. False: no metric could be computed.
bool HorizontalPodAutoscalerController::DecideSize(SyncState& sync) {
  const AutoscalerSpec& spec = sync.spec;
  const int current = sync.target.replicas;
  if (current == 0) {
    const bool grows = sync.was_scaled_to_zero && (spec.min != 0 || spec.HasObjectOrExternalMetric());
    if (grows) return DecideByMetrics(sync);
    sync.desired = 0;
    sync.Set("ScalingActive", false, "ScalingDisabled",
             "scaling is disabled since the replica count of the target is zero");
    if (!sync.scales_to_zero) RemoveCondition(sync.status_now["conditions"], "ScaledToZero");
    return true;
  }
  if (current > spec.max) {
    sync.rescale_reason = "Current number of replicas above Spec.MaxReplicas";
    sync.desired = spec.max;
    return true;
  }
  if (current < spec.min) {
    sync.rescale_reason = "Current number of replicas below Spec.MinReplicas";
    sync.desired = spec.min;
    return true;
  }
  return DecideByMetrics(sync);
}

bool HorizontalPodAutoscalerController::DecideByMetrics(SyncState& sync) {
  Decision decision = Evaluate(sync);
  if (!decision.error.empty()) sync.ending.error = kInternal;
  if (!decision.proposal) {
    RecordEvent(sync, kWarning, "FailedComputeMetricsReplicas", decision.error);
    return false;
  }
  sync.proposal = decision.proposal;
  const int current = sync.target.replicas;
  const int proposed = std::max(decision.proposal->replicas, 0);
  if (proposed > current) sync.rescale_reason = decision.metric + " above target";
  if (proposed < current) sync.rescale_reason = "All metrics below target";
  const Normalized normalized = Normalize(sync.spec, current, proposed, histories_[sync.Name()], sync.now);
  sync.Set("AbleToScale", true, normalized.able.reason, std::string(normalized.able.message));
  sync.Set("ScalingLimited", normalized.limited, normalized.limits.reason,
           std::string(normalized.limits.message));
  sync.desired = normalized.replicas;
  sync.waits = normalized.waits;
  if (current == 0 && sync.was_scaled_to_zero && sync.desired < sync.spec.min) {
    sync.desired = sync.spec.min;
    if (sync.rescale_reason.empty())
      sync.rescale_reason = "Current number of replicas below Spec.MinReplicas";
  }
  return true;
}

// Writes the target's scale. False: it could not be written.
Task<bool> HorizontalPodAutoscalerController::Rescale(SyncStatePtr sync) {
  const std::string size = "New size: " + std::to_string(sync->desired) + "; reason: " + sync->rescale_reason;
  ScaleTarget target = sync->target;
  std::string failure;
  for (int attempt = 0; attempt < kScaleAttempts; ++attempt) {
    // Two statements: GCC 12 destroys the arguments of a co_await in a condition too early.
    api::Client::Written written =
        co_await context_.client.Update(target.resource, ScaleDocument(target, sync->desired), "scale");
    failure = written ? "" : written.status().message;
    if (written || !written.status().Is(api::reason::kConflict)) break;
    if (auto again = ReadScaleAgain(context_.client, target)) target = std::move(*again);
  }
  if (!failure.empty()) {
    RecordEvent(*sync, kWarning, "FailedRescale", size + "; error: " + failure);
    sync->Set("AbleToScale", false, "FailedUpdateScale",
              "the HPA controller was unable to update the target scale: " + failure);
    sync->ending = {.error = kInternal};
    co_return false;
  }
  sync->changed = true;
  sync->Set("AbleToScale", true, "SucceededRescale",
            "the HPA controller was able to update the target scale to " + std::to_string(sync->desired));
  RecordEvent(*sync, kNormal, "SuccessfulRescale", size);
  Explain(*sync, sync->desired, sync->rescale_reason);
  const int current = sync->target.replicas;
  if (const auto history = histories_.find(sync->Name()); history != histories_.end() && sync->spec.behavior)
    history->second.RecordScaling(*sync->spec.behavior, current, sync->desired, Now());
  NoteScaledToZero(*sync);
  sync->ending.action = sync->desired > current ? "scale_up" : "scale_down";
  co_return true;
}

void HorizontalPodAutoscalerController::NoteScaledToZero(SyncState& sync) {
  if (!sync.scales_to_zero) return RemoveCondition(sync.status_now["conditions"], "ScaledToZero");
  const bool to_zero = sync.target.replicas > 0 && sync.desired == 0 && sync.spec.min == 0 &&
                       sync.spec.HasObjectOrExternalMetric();
  if (to_zero)
    sync.Set("ScaledToZero", true, "ScaledToZero", "the HPA controller scaled the workload to zero");
  else
    sync.Set("ScaledToZero", false, "NotScaledToZero",
             "the HPA controller did not scale the workload to zero");
}

Task<void> HorizontalPodAutoscalerController::WriteStatus(SyncStatePtr sync) {
  if (SameStatus(sync->status_before, sync->status_now)) co_return;
  sync->changed = true;
  Json document = *sync->document;
  document["status"] = sync->status_now;
  api::Client::Written written =
      co_await context_.client.UpdateStatus("horizontalpodautoscalers", std::move(document));
  if (written) co_return;
  RecordEvent(*sync, kWarning, "FailedUpdateStatus", written.status().message);
  sync->ending.error = kInternal;
}

}  // namespace terrarium::controllers::autoscaler
