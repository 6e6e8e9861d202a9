#include "controllers/job/internal/jobs.h"

#include <utility>

#include "api/find_text.h"
#include "api/json_access.h"
#include "controllers/job/internal/retry_limits.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;

constexpr const char* kOrphansIndex = "pods without a controller, for Jobs";

ObjectName NameOf(const api::Object& object) { return {object.header().ns, object.header().name}; }

// Most pods are none of a Job's business. The text of their metadata tells without being parsed; quotes inside of
// values are escaped, so that nobody's annotation is taken for the real thing.
struct Signs {
  bool controlled = false;      // somebody controls the pod
  bool speaks_of_jobs = false;  // a Job owns it, or it has the tracking finalizer
};
Signs SignsOf(const api::Object& pod) {
  const std::string_view text = pod.body();
  // Members are sorted: the finalizers come before the owners.
  const std::size_t owners = api::FindText(text, R"("ownerReferences":[)", 'R');
  const std::string_view before = text.substr(0, owners);
  Signs signs;
  signs.speaks_of_jobs = api::FindText(before, kTrackingFinalizer, '/') != std::string_view::npos;
  if (owners == std::string_view::npos) return signs;
  const std::string_view references = text.substr(owners, text.find(']', owners) - owners);
  signs.controlled = references.find(R"("controller":true)") != std::string_view::npos;
  signs.speaks_of_jobs |= references.find(R"("kind":"Job")") != std::string_view::npos;
  return signs;
}

std::int64_t Generation(const api::Object& object) {
  return api::IntAt(*object.Document(), 0, "metadata", "generation");
}

}  // namespace

Jobs::Jobs(const ControllerContext& context)
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

void Jobs::Watch() {
  std::weak_ptr<Jobs> weak = weak_from_this();
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
    if (SignsOf(pod).controlled) return {};
    return {pod.header().ns};
  });
  pods_.AddHandler(std::move(pods));
}

void Jobs::Start() {
  loop_.Start();
  orphans_.Start();
}

void Jobs::JobSeen(const api::Object* old, const ObjectPtr& job) {
  std::shared_ptr<const Json> document = job->Document();
  StatePtr state = states_.SetJob(job, IsFinished(*document));
  if (old == nullptr) {
    selectors_.Set(state->name, state->selector);
    for (const ObjectPtr& orphan : pods_.ByIndex(kOrphansIndex, state->name.ns))
      if (!state->finished && state->selector.Matches(orphan->header())) state->adoptable.insert(orphan->header().name);
    std::string_view manager = ForeignManager(*document, context_.env.gates);
    if (!manager.empty()) metrics_.ManagedElsewhere(manager);
  }
  if (state->finished) {
    deadlines_.Cancel(state->name);
    backoffs_.Cancel(state->name);
    LetPodsGo(*state);
  } else if (old == nullptr || Generation(*old) != Generation(*job)) {
    loop_.queue().Add(state->name);
  } else {
    SyncLater(*state);
  }
}

void Jobs::JobGone(const api::Object& job) {
  StatePtr state = states_.RemoveJob(job);
  selectors_.Remove(state->name);
  expectations_.Forget(state->name);
  deadlines_.Cancel(state->name);
  backoffs_.Cancel(state->name);
  LetPodsGo(*state);
}

void Jobs::LetPodsGo(const JobState& state) {
  for (const auto& [name, pod] : state.pods)
    if (pod->facts().has_finalizer) orphans_.Add({state.name.ns, name});
}

void Jobs::PodSeen(const api::Object* old, const ObjectPtr& pod) {
  metrics_.PodSeen(old, pod.get());
  const ObjectName name = NameOf(*pod);
  StatePtr before = states_.OwnerOf(name);
  const Signs signs = SignsOf(*pod);
  if (before == nullptr && !signs.speaks_of_jobs) {
    if (!signs.controlled) OrphanSeen(old, *pod, false);
    return;
  }
  std::shared_ptr<const Json> document = pod->Document();
  std::optional<OwnerReference> controller = ControllerOf(*document);
  const bool of_job = controller && controller->kind == "Job" && controller->api_version == "batch/v1";
  if (before != nullptr && !(of_job && controller->uid == before->uid))
    LeavesItsJob(before, name, pod->header().uid);
  PodFacts facts = FactsOf(*document);
  if (!controller) OrphanSeen(old, *pod, facts.has_finalizer);
  if (!of_job) return;
  ControlledPodSeen(old == nullptr, controller->uid, {name.ns, controller->name},
                    std::make_shared<JobPod>(std::move(facts), pod));
}

void Jobs::ControlledPodSeen(bool is_new, const std::string& job_uid, const ObjectName& job, JobPodPtr pod) {
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

void Jobs::OrphanSeen(const api::Object* old, const api::Object& pod, bool has_finalizer) {
  if (has_finalizer) orphans_.Add(NameOf(pod));
  const bool news = old == nullptr || SignsOf(*old).controlled || old->header().labels != pod.header().labels;
  if (!news || pod.header().deleting) return;
  for (const ObjectName& name : selectors_.Matching(pod.header())) {
    ObjectPtr job = jobs_.Get(name);
    StatePtr state = job == nullptr ? nullptr : states_.Find(job->header().uid);
    if (state == nullptr || !state->Runs()) continue;
    state->adoptable.insert(pod.header().name);
    SyncLater(*state);
  }
}

void Jobs::PodGone(const api::Object& pod) {
  metrics_.PodSeen(&pod, nullptr);
  const ObjectName name = NameOf(pod);
  if (StatePtr state = states_.OwnerOf(name)) LeavesItsJob(state, name, pod.header().uid);
}

void Jobs::LeavesItsJob(const StatePtr& state, const ObjectName& pod, const std::string& uid) {
  states_.RemovePod(pod);
  state->finalizer_removals.erase(uid);
  state->releases.erase(uid);
  expectations_.DeletionObserved(state->name, uid);
  if (state->Runs()) SyncLater(*state);
}

void Jobs::SyncLater(const JobState& state) { loop_.queue().AddAfter(state.name, kBatchPeriod); }

std::shared_ptr<const Json> Jobs::Round::Saw() const {
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
