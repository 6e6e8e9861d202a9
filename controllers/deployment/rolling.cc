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

Task<ReconcileResult> DeploymentController::Roll(RoundPtr round) {
  if (round->new_set() == nullptr) {
    ReconcileResult created = co_await CreateNew(round);
    co_return created;
  }
  const std::int64_t replicas = NewReplicas(round->size, round->sizes, round->new_index);
  if (replicas != round->sizes[round->new_index].replicas) {
    std::vector<ScaledSet> grown = {Sized(round->size, round->new_index, replicas)};
    std::string rule = "the new template; " + round->RoomText();
    ReconcileResult resized = co_await ResizeSets(round, std::move(grown), std::move(rule));
    co_return resized;
  }
  std::vector<ScaledSet> shrunk;
  for (const Resize& old : ShrinkOld(round->size, round->sizes, round->new_index))
    shrunk.push_back(Sized(round->size, old.index, old.replicas));
  if (!shrunk.empty()) {
    std::string rule = "an old template; " + std::to_string(round->CountNow().available) +
                       " available, at least " +
                       std::to_string(round->size.replicas - round->size.max_unavailable) + " must be";
    ReconcileResult resized = co_await ResizeSets(round, std::move(shrunk), std::move(rule));
    co_return resized;
  }
  ReconcileResult finished = co_await Finish(round);
  co_return finished;
}

}  // namespace terrarium::controllers::deployment
