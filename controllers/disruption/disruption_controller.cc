#include "controllers/disruption/disruption_controller.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/disruption/internal/disruption_controller.h"
#include "controllers/runtime/go_text.h"

namespace terrarium::controllers::disruption {
namespace {

using api::Json;
using api::Result;
using api::Task;

// An entry of disruptedPods has expired only when its time has passed, not when it comes.
constexpr api::Duration kAfterExpiry = std::chrono::milliseconds(5);

const EventRecorder::Source kSource{"controllermanager"};

bool SameSelector(const api::Object& a, const api::Object& b) {
  std::shared_ptr<const Json> first = a.Document();
  std::shared_ptr<const Json> second = b.Document();
  const Json* left = api::Find(*first, "spec", "selector");
  const Json* right = api::Find(*second, "spec", "selector");
  return left == nullptr || right == nullptr ? left == right : *left == *right;
}

}  // namespace

DisruptionController::DisruptionController(const ControllerContext& context, const ServedResources& resources)
    : context_(context),
      budgets_(context.informers.For("poddisruptionbudgets")),
      pods_(context.informers.For("pods")),
      scales_(context.informers, context.client, resources),
      loop_(context.env, context.metrics, LoopOptions{.name = "disruption", .workers = 1},
            [this](ObjectName name) { return Sync(std::move(name)); }),
      rechecks_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      stale_(context) {}

void DisruptionController::Watch() {
  std::weak_ptr<DisruptionController> weak = weak_from_this();
  EventHandler budgets;
  budgets.added = [weak](const ObjectPtr& budget) {
    if (auto self = weak.lock()) self->BudgetSeen(nullptr, *budget);
  };
  budgets.updated = [weak](const ObjectPtr& old, const ObjectPtr& budget) {
    if (auto self = weak.lock()) self->BudgetSeen(old.get(), *budget);
  };
  budgets.deleted = [weak](const ObjectPtr& budget) {
    if (auto self = weak.lock()) self->BudgetGone(*budget);
  };
  budgets_.AddHandler(std::move(budgets));
  EventHandler pods;
  pods.added = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodSeen(nullptr, *pod);
  };
  pods.updated = [weak](const ObjectPtr& old, const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodSeen(old.get(), *pod);
  };
  pods.deleted = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodGone(*pod);
  };
  pods_.AddHandler(std::move(pods));
}

void DisruptionController::Start() {
  loop_.Start();
  stale_.Start();
}

void DisruptionController::BudgetSeen(const api::Object* old, const api::Object& budget) {
  ObjectName name = budget.name();
  if (old == nullptr || !SameSelector(*old, budget)) {
    auto parsed = api::LabelSelector::FromDocument(api::Find(*budget.Document(), "spec", "selector"));
    api::LabelSelector selector = parsed ? *parsed : api::LabelSelector::Nothing();
    index_.SetBudget(name, selector);
    for (const ObjectPtr& pod : pods_.List(name.ns))
      if (selector.Matches(pod->header())) index_.PodsOf(name)->Put(FactsOf(*pod));
  }
  loop_.queue().Add(name);
}

void DisruptionController::BudgetGone(const api::Object& budget) {
  ObjectName name = budget.name();
  index_.RemoveBudget(name);
  rechecks_.Cancel(name);
}

void DisruptionController::PodSeen(const api::Object* old, const api::Object& pod) {
  stale_.PodSeen(pod);
  if (index_.empty()) return;
  std::vector<ObjectName> selecting = index_.Matching(pod.header());
  if (old != nullptr && old->header().labels != pod.header().labels) {
    for (const ObjectName& name : index_.Matching(old->header())) {
      if (std::binary_search(selecting.begin(), selecting.end(), name)) continue;
      index_.PodsOf(name)->Remove(pod.header().name);
      loop_.queue().Add(name);
    }
  }
  if (selecting.empty()) return;
  if (selecting.size() > 1)
    context_.recorder.Record(kSource, ReferenceToPod(pod), kWarning, "MultiplePodDisruptionBudgets",
                             "Pod \"" + pod.header().ns + "\"/\"" + pod.header().name +
                                 "\" matches multiple PodDisruptionBudgets.  Chose \"" + selecting[0].name +
                                 "\" arbitrarily.");
  PodFacts facts = FactsOf(pod);
  for (const ObjectName& name : selecting) {
    index_.PodsOf(name)->Put(facts);
    loop_.queue().Add(name);
  }
}

void DisruptionController::PodGone(const api::Object& pod) {
  stale_.PodGone(pod.name());
  for (const ObjectName& name : index_.Matching(pod.header())) {
    index_.PodsOf(name)->Remove(pod.header().name);
    loop_.queue().Add(name);
  }
}

Task<ReconcileResult> DisruptionController::Sync(ObjectName name) {
  ObjectPtr budget = budgets_.Get(name);
  if (budget == nullptr || index_.PodsOf(name) == nullptr) co_return Reconciled::Done();
  std::shared_ptr<const Json> document = budget->Document();
  Result<Json> status = Compute(*budget, *document);
  Json next = status ? std::move(*status)
                     : FailedStatus(*document, status.status().message, context_.env.clock.Now());
  ReconcileResult written = co_await Write(budget, std::move(next));
  co_return written;
}

Result<Json> DisruptionController::Compute(const api::Object& budget, const Json& document) {
  ObjectName name = budget.name();
  rechecks_.Cancel(name);
  const Json* selector = api::Find(document, "spec", "selector");
  if (auto selects = api::LabelSelector::FromDocument(selector); !selects) {
    RecordEvent(budget, kWarning, "NoPods", "Failed to get pods: " + selects.status().message);
    return selects.status();
  }
  const SelectedPods& pods = *index_.PodsOf(name);
  if (pods.size() == 0) RecordEvent(budget, kNormal, "NoPods", "No matching pods found");

  const Json& spec = api::ObjectAt(document, "spec");
  std::int64_t scale = 0;
  if (NeedsScale(spec)) {
    Result<std::int64_t> found = ScaleOf(pods, name.ns);
    if (!found) {
      RecordEvent(budget, kWarning, "CalculateExpectedPodCountFailed",
                  "Failed to calculate the number of expected pods: " + found.status().message);
      return found.status();
    }
    scale = *found;
    if (!pods.unmanaged().empty())
      RecordEvent(budget, kWarning, "UnmanagedPods",
                  "Pods selected by this PodDisruptionBudget (selector: " + GoText(selector) +
                      ") were found to be unmanaged. As a result, the status of the PDB cannot be calculated "
                      "correctly, which "
                      "may result in undefined behavior. To account for these pods please set "
                      "\".spec.minAvailable\" field of "
                      "the PDB to an integer value.");
  }
  api::Time now = context_.env.clock.Now();
  Expected expected = ExpectedOf(spec, pods.size(), scale);
  Disrupted disrupted = DisruptedOf(api::ObjectAt(document, "status"), pods, now);
  WarnNotDeleted(budget, disrupted.not_deleted);
  if (disrupted.next_expiry) rechecks_.Set(name, *disrupted.next_expiry - now + kAfterExpiry);
  return NextStatus(document, expected, pods.healthy() - disrupted.still_healthy, disrupted, now);
}

Result<std::int64_t> DisruptionController::ScaleOf(const SelectedPods& pods, const std::string& ns) const {
  std::map<std::string, std::int64_t> replicas;  // by the controller's uid
  for (const auto& [uid, controlled] : pods.controllers()) {
    Result<std::optional<ControllerScale>> scale = scales_.Find(controlled.controller, ns);
    if (!scale) return scale.status();
    if (!*scale)
      return api::GenericServerError("found no controllers for pod \"" + *controlled.pods.begin() + "\"");
    replicas[(*scale)->uid] = (*scale)->replicas;
  }
  std::int64_t sum = 0;
  for (const auto& [uid, count] : replicas) sum += count;
  return sum;
}

Task<ReconcileResult> DisruptionController::Write(ObjectPtr budget, Json status) {
  Json document = budget->Parse();
  if (api::ObjectAt(document, "status") == status) co_return Reconciled::Done();
  document["status"] = std::move(status);
  api::Client::Written written =
      co_await context_.client.UpdateStatus("poddisruptionbudgets", std::move(document));
  if (!written && !written.status().Is(api::reason::kNotFound)) co_return written.status();
  co_return Reconciled::Done();
}

void DisruptionController::WarnNotDeleted(const api::Object& budget, const std::vector<std::string>& pods) {
  const std::string& ns = budget.header().ns;
  for (const std::string& name : pods) {
    ObjectPtr pod = pods_.Get({ns, name});
    if (pod == nullptr) continue;
    // Kubernetes prints the namespace where the budget's name was meant.
    context_.recorder.Record(kSource, ReferenceToPod(*pod), kWarning, "NotDeleted",
                             "Pod was expected by PDB " + ns + "/" + ns + " to be deleted but it wasn't");
  }
}

void DisruptionController::RecordEvent(const api::Object& budget, std::string_view type,
                                       std::string_view reason, std::string message) {
  context_.recorder.Record(kSource, ReferenceTo(budget, "policy/v1", "PodDisruptionBudget"), type, reason,
                           std::move(message));
}

}  // namespace terrarium::controllers::disruption

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeDisruptionController(const ControllerContext& context,
                                                     ServedResources& resources) {
  return std::make_unique<SharedController<disruption::DisruptionController>>(context, resources);
}

}  // namespace terrarium::controllers
