// The scheduling cycle. For one pod at a time: choose a node, count the pod there, send the bind.

#include <chrono>
#include <utility>

#include "api/base/repeating_timer.h"
#include "kubelet-fake/scheduler/internal/scheduler_impl.h"

namespace terrarium::kubelet_fake {

using namespace scheduling;  // NOLINT: the parts that the scheduler is made of

namespace {

// Pods decided in a row before the scheduler yields to other work on the thread.
constexpr int kAttemptsInARow = 64;
// A fallback for pods whose retry hint missed a change, as in kube-scheduler.
constexpr api::Duration kFlushEvery = std::chrono::seconds(30);
constexpr api::Duration kWaitingMost = std::chrono::minutes(5);

}  // namespace

Scheduler::Impl::Impl(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
                      controllers::EventRecorder& recorder, controllers::Metrics& metrics,
                      controllers::WhyLog& why)
    : env_(env),
      client_(client),
      pod_informer_(informers.For("pods")),
      why_(why),
      writer_(env, client, recorder),
      metrics_(metrics),
      chooser_(env.prng),
      preemption_(cluster_, budgets_, env.prng,
                  [this](const PodRecord& pod) { return pod_informer_.Get(*pod.name); }) {}

Scheduler::Impl::~Impl() {
  if (error_timer_ != 0) env_.executor.Cancel(error_timer_);
  if (flush_timer_ != 0) env_.executor.Cancel(flush_timer_);
}

void Scheduler::Impl::Start() {
  started_ = true;
  WaitForFlush();
  Wake();
}

void Scheduler::Impl::Wake() {
  if (!started_ || std::exchange(posted_, true)) return;
  env_.executor.Post([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Work();
  });
}

void Scheduler::Impl::Work() {
  posted_ = false;
  RetryAfterChanges();
  const api::Time now = env_.clock.Now();
  for (int i = 0; i < kAttemptsInARow; ++i) {
    PodRecord* pod = queue_.Pop(now);
    if (pod == nullptr) break;
    Attempt(*pod);
  }
  if (queue_.HasNext()) Wake();
  metrics_.Pending(queue_.sizes());
}

void Scheduler::Impl::Attempt(PodRecord& pod) {
  const api::ObjectHeader& header = pod.object->header();
  if (header.deleting) {
    return writer_.RecordFailed(*pod.object, "skip schedule deleting pod: " + header.ns + "/" + header.name);
  }
  ++pod.attempts;
  if (const auto refusal = Assume(pod)) return Refused(pod, *refusal);
  // There was room for this pod, so there may be room for another one of its class.
  queue_.TryOneOf(*pod.pod_class, env_.clock.Now());
  if (!pod.pod_class->wants.claims.empty()) {
    cluster_.Refresh(*pod.pod_class);
    auto plan = cluster_.volumes().PlanOn(pod.pod_class->volumes, pod.node->facts.header());
    if (plan && !plan->empty()) return BindVolumes(pod, std::move(*plan));
  }
  BindWhenReported(pod);
}

void Scheduler::Impl::BindWhenReported(PodRecord& pod) {
  if (pod.reports_under_way > 0) {
    // Otherwise the report could arrive after the bind and mark a bound pod as unscheduled.
    pod.bind_when_reported = true;
  } else {
    Bind(pod);
  }
}

std::optional<Scheduler::Impl::Refusal> Scheduler::Impl::Assume(PodRecord& pod) {
  PodClass& pod_class = *pod.pod_class;
  const std::uint64_t generation = cluster_.generation();
  const auto& failure = pod_class.failure;
  if (failure && failure->generation == generation && failure->of_all && pod.nominated == nullptr) {
    if (failure->preemption_tried) metrics_.PreemptionTried();
    return Refusal{.message = failure->message, .nomination = ""};
  }
  if (cluster_.nodes().empty()) {
    // DIVERGES: kube-scheduler retries every ten seconds; here the first node wakes the pod.
    pod_class.failure = {
        .generation = generation, .rejected_by = {}, .message = std::string(kNoNodesMessage)};
    return Refusal{.message = pod_class.failure->message, .nomination = ""};
  }
  Diagnosis why;
  NodeInfo* node = chooser_.Choose(cluster_, pod, why);
  if (node == nullptr) return Refuse(pod, why);
  if (pod.nominated != nullptr && pod.nominated != node) NoteFreed(pod.nominated->name, pod.pod_class);
  cluster_.PlacePod(pod, node->name);
  return std::nullopt;
}

void Scheduler::Impl::Refused(PodRecord& pod, const Refusal& refusal) {
  metrics_.Unschedulable();
  Eviction eviction = PrepareEviction(pod, refusal);
  const api::Time now = env_.clock.Now();
  if (eviction.victims.empty()) {
    queue_.AddUnschedulable(pod, now);
  } else {
    queue_.AddPreempting(pod, now);
  }
  if (refusal.nomination) Nominate(pod, *refusal.nomination);
  Report(pod, "Unschedulable", refusal.message, refusal.nomination);
  if (!eviction.victims.empty()) tasks_.Spawn(Evict(std::move(eviction)));
}

void Scheduler::Impl::Displace(PodRecord& pod) {
  EndVolumeBinding(*pod.name);
  NoteFreed(pod.node->name, pod.pod_class);
  cluster_.RemovePod(pod);
}

void Scheduler::Impl::Bind(PodRecord& pod) {
  writer_.Bind(*pod.object, pod.node->name,
               [weak = weak_from_this(), object = pod.object, node = pod.node->name,
                attempts = pod.attempts](const std::optional<api::Status>& failure) {
                 auto self = weak.lock();
                 if (self == nullptr) return;
                 if (!failure) {
                   self->metrics_.Scheduled(attempts);
                   return self->writer_.RecordScheduled(*object, node);
                 }
                 PodRecord* record = self->FindPending(object->header());
                 if (record == nullptr || record->node == nullptr) return;
                 // After a conflict the scheduler's copy of the pod is outdated: the pod may already have a
                 // node, and the condition would be wrong.
                 self->BindFailed(*record, "running Bind plugin \"DefaultBinder\": " + failure->message,
                                  failure->Is(api::reason::kConflict) || failure->Is(api::reason::kNotFound));
               });
}

void Scheduler::Impl::BindFailed(PodRecord& pod, const std::string& message, bool outdated) {
  metrics_.Error();
  Displace(pod);
  queue_.AddErrored(pod, env_.clock.Now());
  WaitForErrorRetry();
  Wake();  // for the metrics
  if (outdated) return writer_.RecordFailed(*pod.object, message);
  Report(pod, "SchedulerError", message, "");
}

void Scheduler::Impl::Report(PodRecord& pod, std::string_view reason, const std::string& message,
                             const std::optional<std::string>& nomination) {
  writer_.RecordFailed(*pod.object, message);
  std::string report = std::string(reason) + ": " + message;
  if (nomination && !nomination->empty()) report.append(1, '\0').append(*nomination);
  if (pod.reported == report) return;
  pod.reported = std::move(report);
  const bool sent = writer_.ReportUnscheduled(
      *pod.object, reason, message, nomination,
      [weak = weak_from_this(), object = pod.object](const std::optional<api::Status>& failure) {
        auto self = weak.lock();
        PodRecord* record = self == nullptr ? nullptr : self->FindPending(object->header());
        if (record == nullptr) return;
        if (failure) record->reported.clear();
        if (--record->reports_under_way > 0) return;
        if (std::exchange(record->bind_when_reported, false) && record->node != nullptr) self->Bind(*record);
      });
  if (sent) ++pod.reports_under_way;
}

PodRecord* Scheduler::Impl::FindPending(const api::ObjectHeader& pod) {
  const auto it = pods_.find({pod.ns, pod.name});
  if (it == pods_.end() || it->second.object == nullptr || it->second.object->header().uid != pod.uid)
    return nullptr;
  return &it->second;
}

void Scheduler::Impl::WaitForErrorRetry() {
  const auto next = queue_.NextErrorRetry();
  if (!next || error_timer_ != 0) return;
  error_timer_ = env_.executor.PostAfter(*next - env_.clock.Now(), [weak = weak_from_this()] {
    auto self = weak.lock();
    if (self == nullptr) return;
    self->error_timer_ = 0;
    self->queue_.TryErrored(self->env_.clock.Now());
    self->WaitForErrorRetry();
    self->Wake();
  });
}

void Scheduler::Impl::WaitForFlush() {
  auto flush = [weak = weak_from_this()] {
    auto self = weak.lock();
    if (self == nullptr) return;
    self->queue_.TryWaitingSince(kWaitingMost, self->env_.clock.Now());
    self->WaitForFlush();
    if (self->queue_.HasNext()) self->Wake();
  };
  const SchedulingQueue::Sizes sizes = queue_.sizes();
  if (sizes.active + sizes.backoff + sizes.unschedulable > 0) {
    flush_timer_ = env_.executor.PostInBackground(kFlushEvery, std::move(flush));
  } else {
    flush_timer_ = api::PostRepeating(env_.executor, kFlushEvery, kFlushEvery, std::move(flush));
  }
}

}  // namespace terrarium::kubelet_fake
