#include "controllers/job/job_controller.h"

#include <utility>

#include "api/json_access.h"
#include "controllers/job/internal/job_controller.h"
#include "controllers/job/internal/retry_limits.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;

constexpr const char* kOrphansIndex = "pods without a controller, for Jobs";

// Whether a Job of this API controls the pod.
bool IsOfJob(const OwnerReference* controller) {
  return controller != nullptr && controller->kind == "Job" && controller->api_version == "batch/v1";
}

std::int64_t Generation(const api::Object& object) {
  return api::IntAt(*object.Document(), 0, "metadata", "generation");
}

}  // namespace

JobController::JobController(const ControllerContext& context)
    : context_(context),
      jobs_(context.informers.For("jobs")),
      pods_(context.informers.For("pods")),
      metrics_(context.metrics),
      expectations_(context.env),
      pod_control_(context),
      orphans_(context),
      deadlines_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      backoffs_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      loop_(context.env, context.metrics, LoopOptions{.name = "job", .workers = 5, .retry = kRetryLimits},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void JobController::Watch() {
  std::weak_ptr<JobController> weak = weak_from_this();
  EventHandler jobs;
  jobs.added = [weak](const ObjectPtr& job) {
    if (auto self = weak.lock()) self->JobSeen(nullptr, job);
  };
  jobs.updated = [weak](const ObjectPtr& old, const ObjectPtr& job) {
    if (auto self = weak.lock()) self->JobSeen(old.get(), job);
  };
  jobs.deleted = [weak](const ObjectPtr& job) {
    if (auto self = weak.lock()) self->JobGone(*job);
  };
  jobs_.AddHandler(std::move(jobs));
  EventHandler pods;
  pods.added = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodSeen(nullptr, pod);
  };
  pods.updated = [weak](const ObjectPtr& old, const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodSeen(old.get(), pod);
  };
  pods.deleted = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodGone(*pod);
  };
  pods_.AddIndex(kOrphansIndex, [](const api::Object& pod) -> std::vector<std::string> {
    if (pod.controller() != nullptr) return {};
    return {pod.name().ns};
  });
  pods_.AddHandler(std::move(pods));
}

void JobController::Start() {
  loop_.Start();
  orphans_.Start();
}

void JobController::JobSeen(const api::Object* old, const ObjectPtr& job) {
  std::shared_ptr<const Json> document = job->Document();
  StatePtr state = states_.SetJob(job, IsFinished(*document));
  if (old == nullptr) {
    selectors_.Set(state->name, state->selector);
    for (const ObjectPtr& orphan : pods_.ByIndex(kOrphansIndex, state->name.ns))
      if (!state->finished && state->selector.Matches(orphan->header()))
        state->adoptable.insert(orphan->header().name);
    std::string_view manager = ForeignManager(*document, context_.env.gates);
    if (!manager.empty()) metrics_.ManagedElsewhere(manager);
  }
  if (state->finished) {
    deadlines_.Cancel(state->name);
    backoffs_.Cancel(state->name);
    ReleasePods(*state);
  } else if (old == nullptr || Generation(*old) != Generation(*job)) {
    loop_.queue().Add(state->name);
  } else {
    SyncLater(*state);
  }
}

void JobController::JobGone(const api::Object& job) {
  StatePtr state = states_.RemoveJob(job);
  selectors_.Remove(state->name);
  expectations_.Forget(state->name);
  deadlines_.Cancel(state->name);
  backoffs_.Cancel(state->name);
  ReleasePods(*state);
}

void JobController::ReleasePods(const JobState& state) {
  for (const auto& [name, pod] : state.pods)
    if (pod->facts().has_finalizer) orphans_.Add({state.name.ns, name});
}

void JobController::PodSeen(const api::Object* old, const ObjectPtr& pod) {
  metrics_.PodSeen(old, pod.get());
  const ObjectName& name = pod->name();
  StatePtr before = states_.OwnerOf(name);
  const OwnerReference* controller = pod->controller();
  const bool of_job = IsOfJob(controller);
  if (before != nullptr && !(of_job && controller->uid == before->uid))
    RemovePodFromJob(before, name, pod->header().uid);
  if (controller == nullptr) return OrphanSeen(old, *pod);
  if (!of_job) return;
  ControlledPodSeen(old == nullptr, controller->uid, {name.ns, controller->name},
                    std::make_shared<JobPod>(FactsOf(*pod->Document()), pod));
}

void JobController::ControlledPodSeen(bool is_new, const std::string& job_uid, const ObjectName& job,
                                      JobPodPtr pod) {
  const PodFacts& facts = pod->facts();
  auto [state, matters] = states_.PutPod(job_uid, job, pod);
  // An expectation is of a Job by name; one of an earlier Job of that name has gone with it.
  if (facts.deleting) {
    expectations_.DeletionObserved(state->name, facts.uid);
  } else if (is_new && state->job != nullptr) {
    expectations_.CreationObserved(state->name);
  }
  if (!facts.has_finalizer) state->finalizer_removals.erase(facts.uid);
  if (state->Runs()) {
    if (matters) SyncLater(*state);
  } else if (facts.has_finalizer) {
    orphans_.Add({pod->header().ns, facts.name});
  }
}

void JobController::OrphanSeen(const api::Object* old, const api::Object& pod) {
  if (api::HasFinalizer(pod, kTrackingFinalizer)) orphans_.Add(pod.name());
  const bool news =
      old == nullptr || old->controller() != nullptr || old->header().labels != pod.header().labels;
  if (!news || pod.header().deleting) return;
  for (const ObjectName& name : selectors_.Matching(pod.header())) {
    ObjectPtr job = jobs_.Get(name);
    StatePtr state = job == nullptr ? nullptr : states_.Find(job->header().uid);
    if (state == nullptr || !state->Runs()) continue;
    state->adoptable.insert(pod.header().name);
    SyncLater(*state);
  }
}

void JobController::PodGone(const api::Object& pod) {
  metrics_.PodSeen(&pod, nullptr);
  const ObjectName& name = pod.name();
  if (StatePtr state = states_.OwnerOf(name)) RemovePodFromJob(state, name, pod.header().uid);
}

void JobController::RemovePodFromJob(const StatePtr& state, const ObjectName& pod, const std::string& uid) {
  states_.RemovePod(pod);
  state->finalizer_removals.erase(uid);
  state->releases.erase(uid);
  expectations_.DeletionObserved(state->name, uid);
  if (state->Runs()) SyncLater(*state);
}

void JobController::SyncLater(const JobState& state) { loop_.queue().AddAfter(state.name, kBatchPeriod); }

std::shared_ptr<const Json> JobController::SyncState::Saw() const {
  Json saw = {{"parallelism", spec.parallelism},
              {"active", tally.counts.active()},
              {"terminating", tally.counts.terminating()},
              {"succeeded", tally.succeeded},
              {"failed", tally.failed},
              {"replacesOnlyFailed", spec.rules.only_replace_failed}};
  if (spec.completions) saw["completions"] = *spec.completions;
  return std::make_shared<const Json>(std::move(saw));
}

}  // namespace terrarium::controllers::job

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeJobController(const ControllerContext& context) {
  return std::make_unique<SharedController<job::JobController>>(context);
}

}  // namespace terrarium::controllers
