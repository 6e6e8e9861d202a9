// The ReplicaSet of a new template. Mirrors getNewReplicaSet of pkg/controller/deployment/sync.go, v1.36.

#include <algorithm>
#include <utility>

#include "api/json_access.h"
#include "controllers/deployment/internal/conditions.h"
#include "controllers/deployment/internal/deployment_controller.h"
#include "controllers/deployment/internal/pod_template.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::Task;

// Nothing can be created in a namespace that goes away, and nothing needs to be.
bool NamespaceGoes(const api::Status& status) {
  if (!status.details) return false;
  const auto& causes = status.details->causes;
  return std::any_of(causes.begin(), causes.end(),
                     [](const api::StatusCause& cause) { return cause.reason == "NamespaceTerminating"; });
}

}  // namespace

Task<ReconcileResult> DeploymentController::CreateNew(SyncStatePtr sync) {
  const std::int64_t replicas = NewReplicas(sync->size, sync->sizes, kNotThereYet);
  Json set = NewReplicaSet(*sync, replicas);
  std::string name(api::StringAt(set, "metadata", "name"));
  api::Client::Written created = co_await writes_.Create(sync, std::move(set));
  if (!created && created.status().Is(api::reason::kAlreadyExists)) {
    ReconcileResult result = co_await NameTaken(sync, std::move(name));
    co_return result;
  }
  if (!created) {
    ReconcileResult result = co_await NotCreated(sync, std::move(name), created.status());
    co_return result;
  }
  sync->revision = std::to_string(sync->NextRevision());
  sync->AddNew(std::make_shared<const ReplicaSetFacts>(FactsOf(*created)));
  if (sync->progress_deadline()) {
    std::string message = "Created new replica set \"" + name + "\"";
    SetCondition(sync->conditions, MakeCondition({kProgressing, "True", kSetCreated, std::move(message)},
                                                 context_.env.clock.Now()));
  }
  ReconcileResult written = co_await WriteStatus(sync, Judge::kProgress);
  co_return written;
}

// The informer has not yet shown the ReplicaSet that this controller created, or the template's hash collides
// with another one's.
Task<ReconcileResult> DeploymentController::NameTaken(SyncStatePtr sync, std::string set) {
  api::Result<ObjectPtr> found = context_.client.Get("replicasets", {sync->name.ns, set});
  if (!found) co_return found.status();
  std::shared_ptr<const Json> document = (*found)->Document();
  const OwnerReference* controller = (*found)->controller();
  const bool ours = controller != nullptr && controller->uid == sync->uid();
  if (ours &&
      SameTemplate(api::ObjectAt(*document, "spec", "template"), api::ObjectAt(sync->spec(), "template"))) {
    own_.ReplicaSetWritten(sync->uid(), (*found)->revision());
    co_return Reconciled::Done();
  }
  sync->collision_count = sync->collision_count.value_or(0) + 1;
  ReconcileResult written = co_await WriteStatus(sync, Judge::kCountsOnly);
  co_return written;
}

Task<ReconcileResult> DeploymentController::NotCreated(SyncStatePtr sync, std::string set, api::Status why) {
  if (NamespaceGoes(why)) co_return Reconciled::Done();
  std::string message = "Failed to create new replica set \"" + set + "\": " + why.message;
  writes_.RecordEvent(*sync, kWarning, kSetNotCreated, message);
  if (sync->progress_deadline()) {
    SetCondition(sync->conditions, MakeCondition({kProgressing, "False", kSetNotCreated, std::move(message)},
                                                 context_.env.clock.Now()));
    ReconcileResult written = co_await WriteStatus(sync, Judge::kCountsOnly);
    if (!written) why.message += "; the status update failed as well: " + written.status().message;
  }
  co_return why;
}

}  // namespace terrarium::controllers::deployment
