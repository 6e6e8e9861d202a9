// Creates and deletes the pods of a step.

#include <algorithm>
#include <set>
#include <utility>

#include "api/json_access.h"
#include "controllers/daemonset/internal/daemonset_controller.h"
#include "controllers/runtime/send_all.h"
#include "controllers/runtime/slow_start.h"

namespace terrarium::controllers::daemonset {

using api::Json;
using api::Task;
using Written = api::Client::Written;

class DaemonSetController::StepReporter {
 public:
  StepReporter(const DaemonSetController& controller, const Subject& subject, std::string_view action,
               std::string_view rule, const Json& saw)
      : controller_(controller), subject_(subject), saw_(saw) {
    why_ = {.time = controller.context_.env.clock.Now(),
            .revision = controller.pods_.Revision(),
            .controller = "daemonset-controller",
            .action = std::string(action),
            .resource = "pods",
            .object = {subject.name().ns, ""},
            .owner_resource = "daemonsets",
            .owner = subject.name(),
            .rule = std::string(rule),
            .saw = nullptr};
  }

  void Done(const std::string& pod, const std::string& node, std::string_view reason,
            std::string_view message) {
    controller_.RecordEvent(subject_, kNormal, reason, std::string(message) + pod);
    why_.object.name = pod;
    Json saw = saw_;
    saw["node"] = node;
    why_.saw = std::make_shared<const Json>(std::move(saw));
    controller_.context_.why.Record(why_);
  }

 private:
  const DaemonSetController& controller_;
  const Subject& subject_;
  const Json& saw_;
  WhyRecord why_;
};

Task<DaemonSetController::Failure> DaemonSetController::Take(SubjectPtr subject, Step step) {
  if (step.create.empty() && step.remove.empty()) co_return std::nullopt;
  std::set<std::string> uids;
  for (const Step::Victim& victim : step.remove) uids.insert(victim.uid);
  expectations_.Expect(subject->name(), static_cast<int>(step.create.size()), std::move(uids));
  auto shared = std::make_shared<const Step>(std::move(step));
  Failure not_created = co_await CreatePods(subject, shared);
  Failure not_deleted = co_await DeletePods(subject, shared);
  if (not_created) co_return not_created;
  co_return not_deleted;
}

Task<DaemonSetController::Failure> DaemonSetController::CreatePods(SubjectPtr subject,
                                                                   std::shared_ptr<const Step> step) {
  const std::size_t count = step->create.size();
  if (count == 0) co_return std::nullopt;
  StepReporter reporter(*this, *subject, "create", step->create_rule, step->saw);
  auto request = [pod = PodTemplateFor(*subject->owner, *subject->document, subject->hash), step,
                  ns = subject->name().ns](std::size_t i) {
    Json pinned = pod;
    PinToNode(pinned, step->create[i]);
    return api::WriteRequest{
        .resource = "pods", .object = {ns, ""}, .subresource = "", .body = std::move(pinned)};
  };
  Task<std::vector<Written>> creating = SendSlowStart(context_.client, count, std::move(request));
  std::vector<Written> answers = co_await std::move(creating);

  std::size_t created = 0;
  bool namespace_goes = false;
  Failure failed;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Written& answer = answers[i];
    if (answer) {
      ++created;
      reporter.Done((*answer)->header().name, step->create[i], "SuccessfulCreate", "Created pod: ");
    } else if (RejectsAllCreations(answer.status())) {
      namespace_goes = true;
    } else {
      RecordEvent(*subject, kWarning, "FailedCreate", "Error creating: " + answer.status().message);
      if (!failed) failed = answer.status();
    }
  }
  // No event will report the pods that were rejected or never requested. In a terminating namespace the
  // expectations stay unmet on purpose: they keep the controller from trying again.
  if (!namespace_goes)
    for (std::size_t i = created; i < count; ++i) expectations_.CreationObserved(subject->name());
  co_return failed;
}

Task<DaemonSetController::Failure> DaemonSetController::DeletePods(SubjectPtr subject,
                                                                   std::shared_ptr<const Step> step) {
  if (step->remove.empty()) co_return std::nullopt;
  StepReporter reporter(*this, *subject, "delete", step->remove_rule, step->saw);
  std::vector<api::WriteRequest> requests;
  for (const Step::Victim& victim : step->remove)
    requests.push_back({.verb = api::WriteRequest::Verb::kDelete,
                        .resource = "pods",
                        .object = {subject->name().ns, victim.pod},
                        .subresource = "",
                        .body = api::DeleteRequest{.uid = victim.uid}.ToJson()});
  std::vector<Written> answers = co_await SendAll(context_.client, std::move(requests));

  Failure failed;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Step::Victim& victim = step->remove[i];
    if (answers[i]) {
      reporter.Done(victim.pod, victim.node, "SuccessfulDelete", "Deleted pod: ");
      continue;
    }
    expectations_.DeletionObserved(subject->name(), victim.uid);
    const api::Status& status = answers[i].status();
    if (status.Is(api::reason::kNotFound)) continue;
    RecordEvent(*subject, kWarning, "FailedDelete", "Error deleting: " + status.message);
    if (!failed) failed = status;
  }
  co_return failed;
}

}  // namespace terrarium::controllers::daemonset
