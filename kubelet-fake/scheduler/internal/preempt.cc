// Preemption: deletes less important pods, and keeps their room for the pod that needs it.

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <spdlog/spdlog.h>

#include "api/core_v1/pod.h"
#include "api/write_request.h"
#include "controllers/runtime/send_all.h"
#include "kubelet-fake/scheduler/internal/scheduler_impl.h"

namespace terrarium::kubelet_fake {

using namespace scheduling;  // NOLINT: the parts that the scheduler is made of
using api::Json;
using api::ObjectPtr;

namespace {

constexpr api::PodCondition kDisruptionTarget = {
    .type = "DisruptionTarget",
    .status = "True",
    .reason = "PreemptionByScheduler",
    .message = "default-scheduler: preempting to accommodate a higher priority pod"};

// nullopt: the pod has the condition.
std::optional<api::WriteRequest> RequestToMark(const api::Object& victim, api::Time now) {
  auto condition = api::ConditionChange(*victim.Document(), kDisruptionTarget, now);
  if (!condition) return std::nullopt;
  Json patch = {{"metadata", {{"uid", victim.header().uid}}},
                {"status", {{"conditions", Json::array({std::move(*condition)})}}}};
  return api::RequestToPatch("pods", victim.name(), std::move(patch), "status");
}

// Whether the pod is gone, or another one has its name.
bool IsGone(const api::Status& status) {
  return status.Is(api::reason::kNotFound) || status.Is(api::reason::kConflict);
}

}  // namespace

Scheduler::Impl::Refusal Scheduler::Impl::Refuse(PodRecord& pod, const Diagnosis& why) {
  if (why.rejected_everywhere()) return RefuseEverywhere(pod, why);
  metrics_.PreemptionTried();
  const bool was_nominated = pod.nominated != nullptr;
  PreemptionResult preemption = preemption_.Find(pod, chooser_.not_hopeless(), env_.clock.Now());
  Refusal out{.message = why.Message(static_cast<int>(cluster_.nodes().size())),
              .nomination = std::nullopt,
              .preemption = std::move(preemption.candidate),
              .candidates = preemption.considered};
  // The plugin DynamicResources comes before preemption, and has nothing to do for a pod without resource
  // claims.
  if (!preemption.message.empty())
    out.message.append(" no new claims to deallocate, preemption: ").append(preemption.message);
  if (preemption.kind == PreemptionResult::Kind::kNoCandidate) out.nomination = "";
  if (preemption.kind == PreemptionResult::Kind::kCandidate) out.nomination = out.preemption.node->name;
  pod.pod_class->failure = {.generation = cluster_.generation(),
                            .rejected_by = why.rejected_by(),
                            .message = out.message,
                            .of_all = !was_nominated && preemption.kind != PreemptionResult::Kind::kCandidate,
                            .preemption_tried = true};
  return out;
}

// Kubernetes ends the attempt before the plugin DynamicResources has read the pod. The plugin fails
// therefore, with the text "not found", and no preemption is tried.
Scheduler::Impl::Refusal Scheduler::Impl::RefuseEverywhere(PodRecord& pod, const Diagnosis& why) {
  Refusal out{.message = why.Message(static_cast<int>(cluster_.nodes().size())) + " not found",
              .nomination = std::nullopt};
  pod.pod_class->failure = {
      .generation = cluster_.generation(), .rejected_by = why.rejected_by(), .message = out.message};
  return out;
}

void Scheduler::Impl::Nominate(PodRecord& pod, const std::string& node) {
  // For less important pods, the nominated pod had been on its node.
  if (pod.nominated != nullptr && pod.nominated->name != node) NoteFreed(pod.nominated->name, pod.pod_class);
  cluster_.Nominate(pod, node);
  queue_.NominationChanged(pod);
}

Scheduler::Impl::Eviction Scheduler::Impl::PrepareEviction(const PodRecord& pod, const Refusal& refusal) {
  Eviction out;
  const Candidate& chosen = refusal.preemption;
  if (chosen.victims.empty()) return out;
  std::vector<PodRecord*> victims;
  for (PodRecord* victim : chosen.victims) {
    if (victim->terminating || victim->preempted) continue;
    const ObjectPtr object = pod_informer_.Get(*victim->name);
    if (object == nullptr || object->header().deleting) continue;
    victims.push_back(victim);
    out.victims.push_back(object);
  }
  if (victims.empty()) return out;
  metrics_.Preempted(chosen.victims.size());
  out.preemptor = pod.object;
  out.node = chosen.node->name;
  for (PodRecord* victim : victims) {
    victim->preempted = true;
    why_.Record({.time = env_.clock.Now(),
                 .revision = pod_informer_.Revision(),
                 .controller = std::string(kSchedulerName),
                 .action = "delete",
                 .resource = "pods",
                 .object = *victim->name,
                 .owner_resource = "pods",
                 .owner = *pod.name,
                 .rule = "preempted: a pod of higher priority needs its room",
                 .saw = std::make_shared<Json>(Json{{"node", out.node},
                                                    {"priority", victim->priority()},
                                                    {"preemptorPriority", pod.priority()},
                                                    {"victims", chosen.victims.size()},
                                                    {"budgetViolations", chosen.violations},
                                                    {"candidateNodes", refusal.candidates}})});
  }
  WithdrawNominations(pod, *chosen.node);
  return out;
}

// The less important pods look for other nodes now, not only when the preemption is complete.
void Scheduler::Impl::WithdrawNominations(const PodRecord& pod, const NodeInfo& node) {
  for (const PodRecord* other : node.nominated) {
    if (other->priority() < pod.priority()) writer_.ClearNomination(*other->object);
  }
}

api::Task<void> Scheduler::Impl::Evict(Eviction eviction) {
  // As in Kubernetes the last victim is deleted after all others, so that a preemption which fails is
  // repeated before the room is there.
  Eviction last{eviction.preemptor, eviction.node, {eviction.victims.back()}};
  const ObjectPtr preemptor = eviction.preemptor;
  eviction.victims.pop_back();
  bool succeeded = true;
  if (!eviction.victims.empty()) {
    api::Task<bool> others = EvictAll(std::move(eviction));
    succeeded = co_await std::move(others);
  }
  if (succeeded) {
    api::Task<bool> one = EvictAll(std::move(last));
    succeeded = co_await std::move(one);
  } else {
    VictimRemains(*last.victims.front());
  }
  EvictionEnded(*preemptor, succeeded);
}

api::Task<bool> Scheduler::Impl::EvictAll(Eviction eviction) {
  bool succeeded = true;
  std::vector<api::WriteRequest> requests;
  std::vector<ObjectPtr> marking;
  std::vector<ObjectPtr> deleting;
  for (const ObjectPtr& victim : eviction.victims) {
    auto request = RequestToMark(*victim, env_.clock.Now());
    (request ? marking : deleting).push_back(victim);
    if (request) requests.push_back(std::move(*request));
  }
  auto marks = co_await controllers::SendAll(client_, std::move(requests));
  for (const ObjectPtr& victim : Accepted(marking, marks, succeeded)) deleting.push_back(victim);

  requests.clear();
  for (const ObjectPtr& victim : deleting) {
    requests.push_back(api::RequestToDelete("pods", victim->name(), {.uid = victim->header().uid}));
  }
  auto deletions = co_await controllers::SendAll(client_, std::move(requests));
  for (const ObjectPtr& victim : Accepted(deleting, deletions, succeeded))
    writer_.RecordPreempted(*victim, *eviction.preemptor, eviction.node);
  co_return succeeded;
}

// A victim that is gone by now counts as deleted and needs no further request.
std::vector<ObjectPtr> Scheduler::Impl::Accepted(const std::vector<ObjectPtr>& victims,
                                                 const std::vector<api::Client::Written>& answers,
                                                 bool& succeeded) {
  std::vector<ObjectPtr> out;
  for (std::size_t i = 0; i < victims.size(); ++i) {
    if (answers[i]) {
      out.push_back(victims[i]);
    } else if (!IsGone(answers[i].status())) {
      env_.log.error("cannot preempt pod {}: {}", victims[i]->name().String(), answers[i].status().message);
      VictimRemains(*victims[i]);
      succeeded = false;
    }
  }
  return out;
}

void Scheduler::Impl::VictimRemains(const api::Object& victim) {
  const auto it = pods_.find(victim.name());
  if (it != pods_.end()) it->second.preempted = false;
}

void Scheduler::Impl::EvictionEnded(const api::Object& preemptor, bool succeeded) {
  metrics_.PreemptionEnded(succeeded);
  PodRecord* pod = FindPending(preemptor.header());
  if (pod == nullptr || pod->place != QueuePlace::kPreempting) return;
  queue_.EndPreemption(*pod);
  Wake();
  if (!succeeded) {
    // DIVERGES: kube-scheduler repeats the attempt without a delay.
    queue_.Remove(*pod);
    queue_.AddErrored(*pod, env_.clock.Now());
    return WaitForErrorRetry();
  }
  // The victims may be gone already.
  if (pod->nominated != nullptr) RetryNominated(pod->nominated->name);
}

}  // namespace terrarium::kubelet_fake
