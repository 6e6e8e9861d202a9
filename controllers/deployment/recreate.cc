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

Task<ReconcileResult> DeploymentController::Recreate(RoundPtr round) {
  std::vector<ScaledSet> sizes;
  for (std::size_t i = 0; i < round->sizes.size(); ++i)
    if (i != round->new_index && round->sizes[i].replicas > 0) sizes.push_back(Sized(round->size, i, 0));
  if (!sizes.empty()) {
    std::string rule = "an old template, which goes first";
    ReconcileResult resized = co_await ResizeSets(round, std::move(sizes), std::move(rule));
    co_return resized;
  }
  if (OldPodsRun(*round)) {
    ReconcileResult waited = co_await WriteStatus(round, Judge::kProgress);
    co_return waited;
  }
  if (round->new_set() == nullptr) {
    ReconcileResult created = co_await CreateNew(round);
    co_return created;
  }
  const std::int64_t replicas = NewReplicas(round->size, round->sizes, round->new_index);
  if (replicas != round->sizes[round->new_index].replicas) {
    sizes.push_back(Sized(round->size, round->new_index, replicas));
    std::string rule = "the new template; " + round->RoomText();
    ReconcileResult resized = co_await ResizeSets(round, std::move(sizes), std::move(rule));
    co_return resized;
  }
  ReconcileResult finished = co_await Finish(round);
  co_return finished;
}

// Whether the new template waits for old pods. Under TerminationStarted it does not wait for terminating
// ones.
bool DeploymentController::OldPodsRun(const Round& round) const {
  for (std::size_t i = 0; i < round.sets.size(); ++i) {
    if (i == round.new_index) continue;
    if (round.sizes[i].status_replicas > 0) return true;
    const PodCounts::Counts pods = pod_counts_.Of(round.sets[i]->uid());
    if (pods.live > 0) return true;
    if (pods.terminating > 0 && round.policy != ReplacementPolicy::kTerminationStarted) return true;
  }
  return false;
}

}  // namespace terrarium::controllers::deployment
