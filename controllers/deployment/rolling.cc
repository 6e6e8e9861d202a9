// The RollingUpdate strategy: grow the new ReplicaSet, shrink the old ones, one change a sync.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "controllers/deployment/internal/deployment_controller.h"
#include "controllers/deployment/internal/rollout.h"
#include "controllers/deployment/internal/scale_plan.h"

namespace terrarium::controllers::deployment {

using api::Task;

Task<ReconcileResult> DeploymentController::Roll(SyncStatePtr sync) {
  if (sync->new_set() == nullptr) {
    ReconcileResult created = co_await CreateNew(sync);
    co_return created;
  }
  const std::int64_t replicas = NewReplicas(sync->size, sync->sizes, sync->new_index);
  if (replicas != sync->sizes[sync->new_index].replicas) {
    std::vector<ScaledSet> grown = {Sized(sync->size, sync->new_index, replicas)};
    std::string rule = "the new template; " + sync->RoomText();
    ReconcileResult resized = co_await ResizeSets(sync, std::move(grown), std::move(rule));
    co_return resized;
  }
  std::vector<ScaledSet> shrunk;
  for (const Resize& old : ShrinkOld(sync->size, sync->sizes, sync->new_index))
    shrunk.push_back(Sized(sync->size, old.index, old.replicas));
  if (!shrunk.empty()) {
    std::string rule = "an old template; " + std::to_string(sync->CountNow().available) +
                       " available, at least " +
                       std::to_string(sync->size.replicas - sync->size.max_unavailable) + " must be";
    ReconcileResult resized = co_await ResizeSets(sync, std::move(shrunk), std::move(rule));
    co_return resized;
  }
  ReconcileResult finished = co_await Finish(sync);
  co_return finished;
}

}  // namespace terrarium::controllers::deployment
