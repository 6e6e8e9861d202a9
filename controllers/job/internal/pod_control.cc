#include "controllers/job/internal/pod_control.h"

#include <algorithm>
#include <utility>

#include "api/write_request.h"
#include "controllers/job/internal/pod_template.h"
#include "controllers/runtime/send_all.h"
#include "controllers/runtime/slow_start.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;
using api::ObjectName;
using api::Status;
using Answers = std::vector<api::Client::Written>;

const EventRecorder::Source kSource{"job-controller"};

// All creates in the namespace will fail from now on, and all that is in it goes: there is nothing to try
// again.
bool IsNamespaceTerminating(const Status& status) {
  if (!status.details) return false;
  const auto& causes = status.details->causes;
  return std::any_of(causes.begin(), causes.end(),
                     [](const api::StatusCause& cause) { return cause.reason == "NamespaceTerminating"; });
}

// The pod of that uid is not there any more: no pod is, or another one has its name.
bool IsGone(const Status& status) {
  return status.Is(api::reason::kNotFound) || status.Is(api::reason::kConflict);
}

}  // namespace

void PodControl::RecordEvent(const api::Object& job, std::string_view type, std::string_view reason,
                             std::string message) {
  context_.recorder.Record(kSource, ReferenceTo(job, "batch/v1", "Job"), type, reason, std::move(message));
}

void PodControl::Explain(const Decision& decision, const char* action, const std::string& pod) {
  const api::ObjectHeader& job = decision.job->header();
  context_.why.Record({.time = context_.env.clock.Now(),
                       .revision = context_.informers.For("pods").Revision(),
                       .controller = "job-controller",
                       .action = action,
                       .resource = "pods",
                       .object = {job.ns, pod},
                       .owner_resource = "jobs",
                       .owner = {job.ns, job.name},
                       .rule = decision.rule,
                       .saw = decision.saw});
}

api::Task<Created> PodControl::Create(Decision decision, std::vector<Json> pods) {
  const std::string ns = decision.job->header().ns;
  auto bodies = std::make_shared<std::vector<Json>>(std::move(pods));
  std::function<api::WriteRequest(std::size_t)> make = [ns, bodies](std::size_t i) {
    return api::RequestToCreate("pods", ns, std::move((*bodies)[i]));
  };
  api::Task<Answers> creating = SendSlowStart(context_.client, bodies->size(), std::move(make));
  Answers answers = co_await std::move(creating);
  Created created;
  for (const api::Client::Written& answer : answers) {
    if (answer.ok()) {
      const std::string& name = (*answer)->header().name;
      ++created.pods;
      Explain(decision, "create", name);
      RecordEvent(*decision.job, kNormal, "SuccessfulCreate", "Created pod: " + name);
      continue;
    }
    ++created.refused;
    if (IsNamespaceTerminating(answer.status())) continue;
    RecordEvent(*decision.job, kWarning, "FailedCreate", "Error creating: " + answer.status().message);
    if (!created.failure) created.failure = answer.status();
  }
  co_return created;
}

PodControl::Target PodControl::TargetOf(const PodFacts& pod, bool take_finalizer) {
  return {pod.name, pod.uid, pod.ready, take_finalizer && pod.has_finalizer};
}

api::Task<std::vector<PodControl::Target>> PodControl::TakeFinalizersOff(std::string ns,
                                                                         std::vector<Target> pods,
                                                                         Deleted* outcome) {
  std::vector<api::WriteRequest> patches;
  for (const Target& pod : pods)
    if (pod.takes_finalizer)
      patches.push_back(api::RequestToPatch("pods", ObjectName{ns, pod.name}, TakeFinalizerOff(pod.uid), ""));
  api::Awaitable<Answers> patching = SendAll(context_.client, std::move(patches));
  Answers answers = co_await std::move(patching);
  std::vector<Target> freed;
  std::size_t next = 0;
  for (Target& pod : pods) {
    const api::Client::Written* answer = pod.takes_finalizer ? &answers[next++] : nullptr;
    if (answer == nullptr || answer->ok()) {
      freed.push_back(std::move(pod));
      continue;
    }
    outcome->not_expected.insert(pod.uid);
    if (IsGone(answer->status())) {
      ++outcome->pods;
      if (pod.ready) ++outcome->ready;
    } else if (!outcome->failure) {
      outcome->failure = answer->status();
    }
  }
  co_return freed;
}

api::Task<Deleted> PodControl::Delete(Decision decision, std::vector<Target> pods) {
  const std::string ns = decision.job->header().ns;
  Deleted deleted;
  api::Task<std::vector<Target>> freeing = TakeFinalizersOff(ns, std::move(pods), &deleted);
  std::vector<Target> targets = co_await std::move(freeing);
  std::vector<api::WriteRequest> requests;
  for (const Target& pod : targets)
    requests.push_back(
        api::RequestToDelete("pods", ObjectName{ns, pod.name}, api::DeleteRequest{.uid = pod.uid}));
  api::Awaitable<Answers> deleting = SendAll(context_.client, std::move(requests));
  Answers answers = co_await std::move(deleting);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Target& pod = targets[i];
    const bool gone = !answers[i].ok() && IsGone(answers[i].status());
    if (!answers[i].ok()) deleted.not_expected.insert(pod.uid);
    if (answers[i].ok() || gone) {
      ++deleted.pods;
      if (pod.ready) ++deleted.ready;
    }
    if (answers[i].ok()) {
      Explain(decision, "delete", pod.name);
      RecordEvent(*decision.job, kNormal, "SuccessfulDelete", "Deleted pod: " + pod.name);
    } else if (!gone) {
      RecordEvent(*decision.job, kWarning, "FailedDelete", "Error deleting: " + answers[i].status().message);
      if (!deleted.failure) deleted.failure = answers[i].status();
    }
  }
  co_return deleted;
}

}  // namespace terrarium::controllers::job
