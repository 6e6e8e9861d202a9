// The end of a step: resizes that both strategies share, and the clean-up after a complete rollout.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json_access.h"
#include "controllers/deployment/internal/deployment_controller.h"
#include "controllers/deployment/internal/progress.h"

namespace terrarium::controllers::deployment {

using api::Result;
using api::Task;

Task<ReconcileResult> DeploymentController::ResizeSets(SyncStatePtr sync, std::vector<ScaledSet> sizes,
                                                       std::string rule) {
  Result<Change> resized = co_await writes_.Resize(sync, std::move(sizes), std::move(rule));
  if (!resized) co_return resized.status();
  co_return Reconciled::Done();
}

// No ReplicaSet is left to grow or to shrink.
Task<ReconcileResult> DeploymentController::Finish(SyncStatePtr sync) {
  Counters known = CountersOf(api::ObjectAt(*sync->document, "status"));
  if (!known.terminating) known.terminating_pods = sync->CountNow().terminating_pods;
  if (IsComplete(sync->size, sync->generation(), known)) {
    Result<void> cleaned = co_await CleanUp(sync);
    if (!cleaned) co_return cleaned.status();
  }
  ReconcileResult written = co_await WriteStatus(sync, Judge::kProgress);
  co_return written;
}

// Old ReplicaSets are kept for rollbacks, up to spec.revisionHistoryLimit.
Task<Result<void>> DeploymentController::CleanUp(SyncStatePtr sync) {
  std::optional<std::int64_t> limit = sync->history_limit();
  if (!limit) co_return Result<void>();
  std::vector<FactsPtr> outdated =
      Outdated(sync->sets, sync->new_index, *limit, sync->size.waits_for_termination);
  if (outdated.empty()) co_return Result<void>();
  std::string rule = "the history keeps " + std::to_string(*limit) + " old ReplicaSets";
  Result<void> deleted = co_await writes_.Delete(sync, std::move(outdated), std::move(rule));
  co_return deleted;
}

}  // namespace terrarium::controllers::deployment
