#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/base/feature_gates.h"
#include "api/json_access.h"
#include "api/selector/label_selector.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/deletion.h"
#include "apiserver/internal/disruption_budget.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/pod_conditions.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"

namespace terrarium::apiserver {
namespace {

using api::Result;

const ResourceInfo& Budgets() { return *ResourceTable::Get().Find("policy", "v1", "poddisruptionbudgets"); }

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

// The steps after the budget has agreed: tell in the pod's status why it goes, then delete it.
void MarkAndDelete(const CallPtr& call, const DeleteOptions& options) {
  auto remove = [call, options] {
    DeleteObject(call, call->resource(), call->Key(), options, [call](Result<Changed> changed) {
      if (!changed) return RespondError(call, changed.status());
      RespondSuccess(call, 201, Json());
    });
  };
  if (!call->server.env.gates.Enabled(api::gate::kPodDisruptionConditions)) return remove();
  ChangeObject(
      call, OwnTarget(*call, options.dry_run),
      [call](const api::ObjectPtr& current, const Json& pod) -> Result<Change> {
        std::string_view phase = api::StringAt(pod, "status", "phase");
        if (current->header().deleting || phase == "Succeeded" || phase == "Failed") return Change{};
        Json marked = pod;
        SetPodConditionTrue(marked,
                            {.type = "DisruptionTarget", .reason = "EvictionByEvictionAPI",
                             .message = "Eviction API: evicting"},
                            call->server.env.clock.Now());
        return Change{Change::Action::kWrite, std::move(marked)};
      },
      [call, remove](Result<Changed> marked) {
        if (!marked) return RespondError(call, marked.status());
        remove();
      });
}

void TakeFromBudget(const CallPtr& call, const api::Object& budget, const DeleteOptions& options) {
  ChangeTarget target{Budgets(), {std::string(Budgets().storage), call->route.ns, budget.header().name}, options.dry_run};
  ChangeObject(
      call, target,
      [call](const api::ObjectPtr&, const Json& document) -> Result<Change> {
        auto taken = TakeDisruption(document, call->route.name, call->server.env.clock.Now());
        if (!taken) return taken.status();
        return Change{Change::Action::kWrite, std::move(*taken)};
      },
      [call, options](Result<Changed> taken) {
        if (!taken) return RespondError(call, taken.status());
        MarkAndDelete(call, options);
      });
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
  auto options = ParseDeleteOptions(call->request, api::ObjectAt(*eviction, "deleteOptions"));
  if (!options) return RespondError(call, options.status());
  options->dry_run = options->dry_run || write_options->dry_run;

  api::ObjectPtr pod = call->server.store.Get(call->Key());
  if (pod == nullptr) return RespondError(call, api::NotFound(call->resource().Resource(), call->route.name));
  Json document = pod->Parse();
  if (NeedsNoBudget(document)) return MarkAndDelete(call, *options);
  std::vector<api::ObjectPtr> budgets = BudgetsOf(*call, *pod);
  if (budgets.size() > 1)
    return RespondError(call, api::GenericServerError("This pod has more than one PodDisruptionBudget, which the "
                                                      "eviction subresource does not support."));
  if (budgets.empty() || AllowsUnhealthy(budgets[0]->Parse(), document)) return MarkAndDelete(call, *options);
  TakeFromBudget(call, *budgets[0], *options);
}

}  // namespace terrarium::apiserver
