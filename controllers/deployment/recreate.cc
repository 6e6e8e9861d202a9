// The Recreate strategy: the new ReplicaSet gets pods when the old ReplicaSets have none.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "controllers/deployment/internal/deployment_controller.h"
#include "controllers/deployment/internal/rollout.h"
#include "controllers/deployment/internal/scale_plan.h"

namespace terrarium::controllers::deployment {

using api::Task;

Task<ReconcileResult> DeploymentController::Recreate(SyncStatePtr sync) {
  std::vector<ScaledSet> sizes;
  for (std::size_t i = 0; i < sync->sizes.size(); ++i)
    if (i != sync->new_index && sync->sizes[i].replicas > 0) sizes.push_back(Sized(sync->size, i, 0));
  if (!sizes.empty()) {
    std::string rule = "an old template, which goes first";
    ReconcileResult resized = co_await ResizeSets(sync, std::move(sizes), std::move(rule));
    co_return resized;
  }
  if (OldPodsRun(*sync)) {
    ReconcileResult waited = co_await WriteStatus(sync, Judge::kProgress);
    co_return waited;
  }
  if (sync->new_set() == nullptr) {
    ReconcileResult created = co_await CreateNew(sync);
    co_return created;
  }
  const std::int64_t replicas = NewReplicas(sync->size, sync->sizes, sync->new_index);
  if (replicas != sync->sizes[sync->new_index].replicas) {
    sizes.push_back(Sized(sync->size, sync->new_index, replicas));
    std::string rule = "the new template; " + sync->RoomText();
    ReconcileResult resized = co_await ResizeSets(sync, std::move(sizes), std::move(rule));
    co_return resized;
  }
  ReconcileResult finished = co_await Finish(sync);
  co_return finished;
}

// Whether the new template waits for old pods. Under TerminationStarted it does not wait for terminating
// ones.
bool DeploymentController::OldPodsRun(const SyncState& sync) const {
  for (std::size_t i = 0; i < sync.sets.size(); ++i) {
    if (i == sync.new_index) continue;
    if (sync.sizes[i].status_replicas > 0) return true;
    const PodCounts::Counts pods = pod_counts_.Of(sync.sets[i]->uid());
    if (pods.live > 0) return true;
    if (pods.terminating > 0 && sync.policy != ReplacementPolicy::kTerminationStarted) return true;
  }
  return false;
}

}  // namespace terrarium::controllers::deployment
