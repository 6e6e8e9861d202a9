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

Task<ReconcileResult> DeploymentController::CreateNew(RoundPtr round) {
  const std::int64_t replicas = NewReplicas(round->size, round->sizes, kNotThereYet);
  Json set = NewReplicaSet(*round, replicas);
  std::string name(api::StringAt(set, "metadata", "name"));
  api::Client::Written created = co_await writes_.Create(round, std::move(set));
  if (!created && created.status().Is(api::reason::kAlreadyExists)) {
    ReconcileResult result = co_await NameTaken(round, std::move(name));
    co_return result;
  }
  if (!created) {
    ReconcileResult result = co_await NotCreated(round, std::move(name), created.status());
    co_return result;
  }
  round->revision = std::to_string(round->NextRevision());
  round->AddNew(std::make_shared<const ReplicaSetFacts>(FactsOf(*created)));
  if (round->progress_deadline()) {
    std::string message = "Created new replica set \"" + name + "\"";
    SetCondition(round->conditions, MakeCondition({kProgressing, "True", kSetCreated, std::move(message)},
                                                  context_.env.clock.Now()));
  }
  ReconcileResult written = co_await WriteStatus(round, Judge::kProgress);
  co_return written;
}

// Either the view has yet to show what is ours, or the template's hash is that of another one.
Task<ReconcileResult> DeploymentController::NameTaken(RoundPtr round, std::string set) {
  api::Result<ObjectPtr> found = context_.client.Get("replicasets", {round->name.ns, set});
  if (!found) co_return found.status();
  std::shared_ptr<const Json> document = (*found)->Document();
  const OwnerReference* controller = (*found)->controller();
  const bool ours = controller != nullptr && controller->uid == round->uid();
  if (ours &&
      SameTemplate(api::ObjectAt(*document, "spec", "template"), api::ObjectAt(round->spec(), "template"))) {
    own_.ReplicaSetWritten(round->uid(), (*found)->revision());
    co_return Reconciled::Done();
  }
  round->collision_count = round->collision_count.value_or(0) + 1;
  ReconcileResult written = co_await WriteStatus(round, Judge::kCountsOnly);
  co_return written;
}

Task<ReconcileResult> DeploymentController::NotCreated(RoundPtr round, std::string set, api::Status why) {
  if (NamespaceGoes(why)) co_return Reconciled::Done();
  std::string message = "Failed to create new replica set \"" + set + "\": " + why.message;
  writes_.Tell(*round, kWarning, kSetNotCreated, message);
  if (round->progress_deadline()) {
    SetCondition(round->conditions, MakeCondition({kProgressing, "False", kSetNotCreated, std::move(message)},
                                                  context_.env.clock.Now()));
    ReconcileResult written = co_await WriteStatus(round, Judge::kCountsOnly);
    if (!written) why.message += "; nor can that be told: " + written.status().message;
  }
  co_return why;
}

}  // namespace terrarium::controllers::deployment
