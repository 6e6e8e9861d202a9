// Creates and deletes pods for an owner.

#include <set>
#include <utility>

#include "api/json_access.h"
#include "controllers/replicaset/internal/replicaset_controller.h"
#include "controllers/runtime/owner_references.h"
#include "controllers/runtime/send_all.h"
#include "controllers/runtime/slow_start.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;
using api::Task;

// A pod of the owner's template.
Json PodOf(const api::Object& owner, const ReplicaKind& kind) {
  std::shared_ptr<const Json> document = owner.Document();
  const Json& of_template = api::ObjectAt(*document, "spec", "template");
  Json metadata = {{"generateName", owner.header().name + "-"}};
  for (const char* field : {"labels", "annotations", "finalizers"})
    if (const Json* value = api::Find(of_template, "metadata", field)) metadata[field] = *value;
  metadata["ownerReferences"] = Json::array({ControllerReference(owner, kind.api_version, kind.kind)});
  return {{"metadata", std::move(metadata)}, {"spec", api::ObjectAt(of_template, "spec")}};
}

}  // namespace

class ReplicaSetController::BurstReporter {
 public:
  BurstReporter(const ReplicaSetController& manager, const Burst& burst, std::string_view action,
                std::string_view rule, Json saw)
      : context_(manager.context_),
        source_{std::string(manager.kind_.event_source)},
        about_(ReferenceTo(*burst.owner, manager.kind_.api_version, manager.kind_.kind)) {
    saw["wanted"] = burst.wanted;
    saw["live"] = burst.live;
    saw["terminating"] = burst.terminating;
    why_ = {.time = context_.env.clock.Now(),
            .revision = manager.pods_.Revision(),
            .controller = std::string(manager.kind_.controller),
            .action = std::string(action),
            .resource = "pods",
            .object = {burst.owner->header().ns, ""},
            .owner_resource = std::string(manager.kind_.resource),
            .owner = burst.owner->name(),
            .rule = std::string(rule),
            .saw = std::make_shared<const Json>(std::move(saw))};
  }

  void Done(const std::string& pod, std::string_view reason, std::string_view message) {
    context_.recorder.Record(source_, about_, kNormal, reason, std::string(message) + pod);
    why_.object.name = pod;
    context_.why.Record(why_);
  }
  void Failed(std::string_view reason, std::string message) {
    context_.recorder.Record(source_, about_, kWarning, reason, std::move(message));
  }

 private:
  const ControllerContext& context_;
  EventRecorder::Source source_;
  ObjectReference about_;
  WhyRecord why_;
};

Task<std::optional<api::Status>> ReplicaSetController::CreatePods(Burst burst) {
  const ObjectName& name = burst.owner->name();
  expectations_.ExpectCreations(name, burst.count);
  BurstReporter reporter(*this, burst, "create", "fewer live pods than spec.replicas", Json::object());
  auto request = [pod = PodOf(*burst.owner, kind_), ns = name.ns](std::size_t) {
    return api::WriteRequest{.resource = "pods", .object = {ns, ""}, .subresource = "", .body = pod};
  };
  Task<std::vector<api::Client::Written>> creating =
      SendSlowStart(context_.client, static_cast<std::size_t>(burst.count), std::move(request));
  std::vector<api::Client::Written> answers = co_await std::move(creating);

  int created = 0;
  bool namespace_goes = false;
  std::optional<api::Status> failed;
  for (const api::Client::Written& answer : answers) {
    if (answer) {
      ++created;
      reporter.Done((*answer)->header().name, "SuccessfulCreate", "Created pod: ");
    } else if (RejectsAllCreations(answer.status())) {
      namespace_goes = true;
    } else {
      reporter.Failed("FailedCreate", "Error creating: " + answer.status().message);
      if (!failed) failed = answer.status();
    }
  }
  // No event will report the pods that were rejected or never requested. In a terminating namespace the
  // expectations stay unmet on purpose: they keep the owner from trying again.
  if (!namespace_goes)
    for (int i = created; i < burst.count; ++i) expectations_.CreationObserved(name);
  co_return failed;
}

Task<std::optional<api::Status>> ReplicaSetController::DeletePods(Burst burst) {
  const ObjectName& name = burst.owner->name();
  std::optional<Choice> choice = ChooseVictims(burst);
  if (!choice) co_return std::nullopt;
  const std::vector<Victim>& victims = choice->victims;
  std::set<std::string> uids;
  std::vector<api::WriteRequest> requests;
  Json chosen = Json::array();
  for (const Victim& victim : victims) {
    uids.insert(victim.uid);
    requests.push_back({.verb = api::WriteRequest::Verb::kDelete,
                        .resource = "pods",
                        .object = {name.ns, victim.name},
                        .subresource = "",
                        .body = api::DeleteRequest{.uid = victim.uid}.ToJson()});
    chosen.push_back({{"pod", victim.name},
                      {"ready", victim.ready},
                      {"deletionCost", victim.cost},
                      {"rank", victim.rank}});
  }
  Json saw;
  saw["chosen"] = std::move(chosen);
  if (!choice->picker.is_null()) saw["picker"] = std::move(choice->picker);
  expectations_.ExpectDeletions(name, std::move(uids));
  BurstReporter reporter(*this, burst, "delete", "more live pods than spec.replicas", std::move(saw));
  std::vector<api::Client::Written> answers = co_await SendAll(context_.client, std::move(requests));

  std::optional<api::Status> failed;
  for (std::size_t i = 0; i < victims.size(); ++i) {
    if (answers[i]) {
      reporter.Done(victims[i].name, "SuccessfulDelete", "Deleted pod: ");
      continue;
    }
    expectations_.DeletionObserved(name, victims[i].uid);
    api::Status& status = answers[i].status();
    if (status.Is(api::reason::kNotFound)) continue;
    reporter.Failed("FailedDelete", "Error deleting: " + status.message);
    if (failed) continue;
    failed = std::move(status);
    failed->message = "unable to delete pods: " + failed->message;
  }
  co_return failed;
}

}  // namespace terrarium::controllers::replicaset
