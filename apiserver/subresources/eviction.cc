#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/base/feature_gates.h"
#include "api/json_access.h"
#include "api/selector/label_selector.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/deletion.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/write_path.h"
#include "apiserver/subresources/internal/disruption_budget.h"
#include "apiserver/subresources/internal/pod_conditions.h"

namespace terrarium::apiserver {
namespace {

using api::Result;

const ResourceInfo& Budgets() {
  return *ResourceTable::BuiltIn()->Find("policy", "v1", "poddisruptionbudgets");
}

std::vector<api::ObjectPtr> BudgetsOf(const Call& call, const api::Object& pod) {
  std::vector<api::ObjectPtr> out;
  auto listing = call.server.store.List({std::string(Budgets().storage), call.route.ns, 0, ""});
  if (!listing) return out;
  for (api::ObjectPtr& budget : listing->items) {
    Json document = budget->Parse();
    auto selector = api::LabelSelector::FromDocument(api::Find(document, "spec", "selector"));
    if (selector && selector->Matches(pod.header())) out.push_back(std::move(budget));
  }
  return out;
}

// Of options that a deletion refuses, what counts before it.
DeleteOptions MarkingOptions(const Json& given) {
  DeleteOptions out;
  out.dry_run = !api::ListAt(given, "dryRun").empty();
  if (const Json* uid = api::Find(given, "preconditions", "uid")) out.uid = uid->get<std::string>();
  if (const Json* version = api::Find(given, "preconditions", "resourceVersion"))
    out.resource_version = version->get<std::string>();
  return out;
}

// Kubernetes tries again this often when the pod changes under an eviction.
constexpr int kTries = 20;

// One eviction from reading the pod to deleting it.
struct Eviction : std::enable_shared_from_this<Eviction> {
  CallPtr call;
  DeleteOptions options;  // as the client sent them
  int tries_left = kTries;
  // What is wrong with the options. As in Kubernetes only the deletion finds out, when the pod has been
  // marked.
  std::optional<api::Status> refusal;
  // Set while an unhealthy pod goes without using up the budget of this name.
  std::optional<std::string> spared_budget;

  void Start();
  void AskBudget(const api::ObjectPtr& pod, const Json& document);
  void TakeFromBudget(const std::string& budget);
  void MarkAndDelete(const DeleteOptions& enforced);
  void Delete(const DeleteOptions& enforced);
  void Fail(const api::Status& status);
};

void Eviction::Start() {
  --tries_left;
  api::ObjectPtr pod = call->server.store.Get(call->Key());
  if (pod == nullptr) return RespondError(call, api::NotFound(call->resource().Resource(), call->route.name));
  Json document = pod->Parse();
  if (!NeedsNoBudget(document)) return AskBudget(pod, document);
  DeleteOptions enforced = options;
  // A pending pod must still be pending when it goes: otherwise its budget has to be asked after all.
  if (!enforced.resource_version && !IsGoneForBudgets(document))
    enforced.resource_version = std::to_string(pod->revision());
  MarkAndDelete(enforced);
}

void Eviction::AskBudget(const api::ObjectPtr& pod, const Json& document) {
  tries_left = 0;
  std::vector<api::ObjectPtr> budgets = BudgetsOf(*call, *pod);
  if (budgets.size() > 1)
    return RespondError(call,
                        api::GenericServerError("This pod has more than one PodDisruptionBudget, which the "
                                                "eviction subresource does not support."));
  if (budgets.empty()) return MarkAndDelete(options);
  const std::string& name = budgets[0]->header().name;
  if (!AllowsUnhealthy(budgets[0]->Parse(), document)) return TakeFromBudget(name);
  spared_budget = name;
  DeleteOptions enforced = options;
  enforced.resource_version = std::to_string(pod->revision());
  MarkAndDelete(enforced);
}

void Eviction::TakeFromBudget(const std::string& budget) {
  ChangeTarget target{Budgets(), {std::string(Budgets().storage), call->route.ns, budget}, options.dry_run};
  ChangeObject(
      call, target,
      [call = call](const api::ObjectPtr&, const Json& document) -> Result<Change> {
        auto taken = TakeDisruption(document, call->route.name, call->server.env.clock.Now());
        if (!taken) return taken.status();
        return Change{Change::Action::kWrite, std::move(*taken)};
      },
      [self = shared_from_this()](Result<Changed> taken) {
        if (!taken) return self->Fail(taken.status());
        self->MarkAndDelete(self->options);
      });
}

// Writes the DisruptionTarget condition to the pod that the preconditions name. The write changes the
// revision, so a precondition on the revision is then checked against the written one.
void Eviction::MarkAndDelete(const DeleteOptions& enforced) {
  if (options.dry_run || !call->server.env.gates.Enabled(api::gate::kPodDisruptionConditions))
    return Delete(enforced);
  ChangeObject(
      call, OwnTarget(*call, false),
      [call = call, enforced](const api::ObjectPtr& current, const Json& pod) -> Result<Change> {
        DeleteOptions named = enforced;
        if (named.uid && named.uid->empty()) named.uid.reset();
        if (named.resource_version && named.resource_version->empty()) named.resource_version.reset();
        if (auto fine = CheckPreconditions(call->resource(), named, *current); !fine) return fine.status();
        Json marked = pod;
        SetPodConditionTrue(marked,
                            {.type = "DisruptionTarget",
                             .reason = "EvictionByEvictionAPI",
                             .message = "Eviction API: evicting"},
                            call->server.env.clock.Now());
        return Change{Change::Action::kWrite, std::move(marked)};
      },
      [self = shared_from_this(), enforced](Result<Changed> marked) {
        if (!marked) return self->Fail(marked.status());
        DeleteOptions next = enforced;
        if (next.resource_version) next.resource_version = std::to_string(marked->object->revision());
        self->Delete(next);
      });
}

void Eviction::Delete(const DeleteOptions& enforced) {
  if (refusal) return RespondError(call, *refusal);
  DeleteObject(call, call->resource(), call->Key(), enforced,
               [self = shared_from_this()](Result<Changed> changed) {
                 if (!changed) return self->Fail(changed.status());
                 RespondSuccess(self->call, 201, Json());
               });
}

// A conflict over a revision that the client did not name is not the client's to solve.
void Eviction::Fail(const api::Status& status) {
  if (!status.Is(api::reason::kConflict) || options.resource_version) return RespondError(call, status);
  if (spared_budget) return RespondError(call, BudgetIsBehind(*spared_budget));
  if (tries_left > 0) return Start();
  RespondError(call, status);
}

}  // namespace

void ServeEviction(const CallPtr& call) {
  auto write_options = ParseWriteOptions(call->request, "CreateOptions");
  if (!write_options) return RespondError(call, write_options.status());
  ExpectedKind kind = BodyKindOf(*call->route.subresource);
  kind.also_version = "v1beta1";  // what older kubectl drains with
  auto eviction = DecodeBody(*call, kind, write_options->field_validation);
  if (!eviction) return RespondError(call, eviction.status());
  if (api::StringAt(*eviction, "metadata", "name") != call->route.name)
    return RespondError(call, api::BadRequest("name in URL does not match name in Eviction object"));
  auto steps = std::make_shared<Eviction>();
  steps->call = call;
  Json given = api::ObjectAt(*eviction, "deleteOptions");
  if (auto options = ParseDeleteOptions(call->request, given)) {
    steps->options = std::move(*options);
  } else {
    steps->refusal = options.status();
    steps->options = MarkingOptions(given);
  }
  steps->options.dry_run = steps->options.dry_run || write_options->dry_run;
  steps->Start();
}

}  // namespace terrarium::apiserver
