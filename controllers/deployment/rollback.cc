// Returning to an old template by request of an annotation, which took the place of the extensions API's
// rollback. kubectl's own `rollout undo` writes the old template itself. Mirrors
// pkg/controller/deployment/rollback.go, v1.36.

#include <algorithm>
#include <utility>

#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/deployment/internal/deployment_controller.h"
#include "controllers/deployment/internal/pod_template.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::Task;

constexpr const char* kNotFound = "DeploymentRollbackRevisionNotFound";
constexpr const char* kUnchanged = "DeploymentRollbackTemplateUnchanged";
constexpr const char* kDone = "DeploymentRollback";

// The second highest revision, which is the one before the current; 0 when there is none.
std::int64_t LastRevision(const std::vector<FactsPtr>& sets) {
  std::int64_t highest = 0, second = 0;
  for (const FactsPtr& set : sets) {
    const std::int64_t revision = set->revision.value_or(0);
    if (revision >= highest)
      second = std::exchange(highest, revision);
    else
      second = std::max(second, revision);
  }
  return second;
}

}  // namespace

Task<ReconcileResult> DeploymentController::RollBack(SyncStatePtr sync, std::int64_t revision) {
  if (sync->new_set() == nullptr) {
    ReconcileResult created = co_await CreateNew(sync);
    co_return created;
  }
  const bool last = revision == 0;
  if (last) revision = LastRevision(sync->sets);
  const ReplicaSetFacts* target = nullptr;
  for (const FactsPtr& set : sync->sets)
    if (revision != 0 && target == nullptr && set->revision == revision) target = set.get();
  if (target == nullptr) {
    const bool none = last && revision == 0;
    writes_.RecordEvent(
        *sync, kWarning, kNotFound,
        none ? "Unable to find last revision." : "Unable to find the revision to rollback to.");
  } else if (target->template_digest == sync->new_set()->template_digest) {
    writes_.RecordEvent(
        *sync, kWarning, kUnchanged,
        "The rollback revision contains the same template as current deployment \"" + sync->name.name + "\"");
    target = nullptr;
  }
  const bool goes_back = target != nullptr;
  ReconcileResult ended = co_await EndRollback(sync, target);
  if (ended && goes_back)
    writes_.RecordEvent(
        *sync, kNormal, kDone,
        "Rolled back deployment \"" + sync->name.name + "\" to revision " + std::to_string(revision));
  co_return ended;
}

// Removes the request; with a target, carries it out.
Task<ReconcileResult> DeploymentController::EndRollback(SyncStatePtr sync, const ReplicaSetFacts* target) {
  Json next = *sync->document;
  if (target == nullptr) {
    next["metadata"]["annotations"].erase(std::string(kRollbackTo));
  } else {
    std::shared_ptr<const Json> set = target->object->Document();
    next["metadata"]["annotations"] =
        RolledBack(sync->annotations(), api::ObjectAt(*set, "metadata", "annotations"));
    next["spec"]["template"] = WithoutHash(api::ObjectAt(*set, "spec", "template"));
  }
  api::Awaitable<api::Client::Written> updating = context_.client.Update("deployments", std::move(next));
  api::Client::Written written = co_await std::move(updating);
  if (!written) co_return written.status();
  own_.DeploymentWritten(sync->uid(), (*written)->revision());
  co_return Reconciled::Done();
}

}  // namespace terrarium::controllers::deployment
