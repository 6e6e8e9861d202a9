// A Deployment that is paused, or whose spec.replicas has changed: its ReplicaSets follow before a rollout
// goes on.

#include <string>
#include <utility>
#include <vector>

#include "controllers/deployment/internal/annotations.h"
#include "controllers/deployment/internal/deployment_controller.h"
#include "controllers/deployment/internal/scale_plan.h"

namespace terrarium::controllers::deployment {

using api::Result;
using api::Task;

Task<ReconcileResult> DeploymentController::Scale(SyncStatePtr sync) {
  std::vector<ScaledSet> plan = PlanScale(sync->size, sync->sizes, sync->new_index);
  std::string rule = "for " + std::to_string(sync->size.replicas) + " replicas; " + sync->RoomText();
  Result<Change> resized = co_await writes_.Resize(sync, std::move(plan), std::move(rule));
  if (!resized) co_return resized.status();
  if (*resized == Change::kChanged) co_return Reconciled::Done();
  if (sync->paused() && !RollbackAskedFor(sync->annotations())) {
    Result<void> cleaned = co_await CleanUp(sync);
    if (!cleaned) co_return cleaned.status();
  }
  // A scale that waits for terminating pods takes as long as they do, and so does its rollout: a pod that
  // disappears is progress, and lack of progress is a failure at the deadline.
  const bool takes_time = sync->size.waits_for_termination && !sync->paused();
  ReconcileResult written = co_await WriteStatus(sync, takes_time ? Judge::kProgress : Judge::kCountsOnly);
  co_return written;
}

}  // namespace terrarium::controllers::deployment
