// Random Jobs, random fates of their pods, and a controller that crashes between any two of its writes.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/in_process_client.h"
#include "controllers/job/internal/indexes.h"
#include "controllers/job/internal/job_status.h"
#include "controllers/job/internal/pod_facts.h"
#include "controllers/runtime/owner_references.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "tests/controllers/job/job_plane.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobPlane;
using testing::Json;

// The exit code that the podFailurePolicy of some Jobs ignores.
constexpr int kIgnored = 3;

struct PodHistory {
  std::string job_uid;
  int index = kUnknownIndex;
  bool has_ended = false;
  Phase tracked_phase = Phase::kPending;  // the last one while its finalizer was on
  bool tracked_deleting = false;
  int exit_code = 0;
};

struct JobHistory {
  std::string name;
  JobStatus last;
  std::set<std::string> succeeded, failed;  // uids that were ever to be counted
  bool replaces_failed_only = false;
  bool ignores = false;  // has a podFailurePolicy
  bool indexed = false;
  bool gone = false;
  std::set<std::pair<int, std::string>> running;  // index and uid of pods that have not ended
};

// Sees every revision of Jobs and pods, as nobody else does.
class Observer {
 public:
  explicit Observer(JobPlane& plane)
      : plane_(plane),
        prng_(1),
        env_{plane.bed().plane().env().clock, plane.bed().plane().runtime().Lane("observer"), prng_, gates_,
             plane.bed().plane().env().log},
        client_(apiserver::MakeInProcessClient(env_, plane.bed().plane().handler(), plane.bed().plane().store(), {})),
        informers_(env_, *client_) {
    informers_.For("jobs").AddHandler({[this](const ObjectPtr& job) { SeeJob(*job); },
                                       [this](const ObjectPtr&, const ObjectPtr& job) { SeeJob(*job); },
                                       [this](const ObjectPtr& job) { jobs[job->header().uid].gone = true; }});
    informers_.For("pods").AddHandler({[this](const ObjectPtr& pod) { SeePod(*pod); },
                                       [this](const ObjectPtr&, const ObjectPtr& pod) { SeePod(*pod); },
                                       [this](const ObjectPtr& pod) { EndPod(pod->header().uid); }});
    informers_.Start();
  }

  std::map<std::string, JobHistory> jobs;  // by uid
  std::map<std::string, PodHistory> pods;

 private:
  void SeeJob(const api::Object& job) {
    std::shared_ptr<const Json> document = job.Document();
    JobHistory& history = jobs[job.header().uid];
    const JobStatus status = ReadJobStatus(*document);
    EXPECT_GE(status.failed, history.last.failed);
    EXPECT_GE(status.succeeded, history.last.succeeded);
    history.name = job.header().name;
    history.last = status;
    history.succeeded.insert(status.uncounted_succeeded.begin(), status.uncounted_succeeded.end());
    history.failed.insert(status.uncounted_failed.begin(), status.uncounted_failed.end());
    history.ignores = api::Find(*document, "spec", "podFailurePolicy") != nullptr;
    history.replaces_failed_only = api::StringAt(*document, "spec", "podReplacementPolicy") == "Failed";
    history.indexed = api::StringAt(*document, "spec", "completionMode") == "Indexed";
  }

  void SeePod(const api::Object& pod) {
    std::shared_ptr<const Json> document = pod.Document();
    const PodFacts facts = FactsOf(*document);
    PodHistory& history = pods[facts.uid];
    if (std::optional<OwnerReference> owner = ControllerOf(*document)) history.job_uid = owner->uid;
    history.index = facts.index;
    if (facts.has_finalizer) {
      history.tracked_phase = facts.phase;
      history.tracked_deleting = facts.deleting;
    }
    for (const Json& container : api::ListAt(*document, "status", "containerStatuses"))
      history.exit_code = static_cast<int>(api::IntAt(container, 0, "state", "terminated", "exitCode"));
    if (facts.Terminal()) return EndPod(facts.uid);
    JobHistory& job = jobs[history.job_uid];
    job.running.insert({facts.index, facts.uid});
    if (job.indexed && job.replaces_failed_only) {
      auto first = job.running.lower_bound({facts.index, ""});
      EXPECT_TRUE(std::next(first) == job.running.end() || std::next(first)->first != facts.index)
          << "revision " << pod.revision() << ": two pods of index " << facts.index << " of Job " << job.name;
    }
  }

  void EndPod(const std::string& uid) {
    PodHistory& history = pods[uid];
    history.has_ended = true;
    jobs[history.job_uid].running.erase({history.index, uid});
  }

  JobPlane& plane_;
  api::FeatureGates gates_;
  api::Prng prng_;
  api::Env env_;
  std::unique_ptr<api::Client> client_;
  InformerSet informers_;
};

class RandomJobs {
 public:
  explicit RandomJobs(std::uint64_t seed)
      : plane_({.seed = seed, .controllers = testing::kFewControllers, .nodes = 1}), observer_(plane_), prng_(seed) {}

  void Run() {
    for (int i = 0; i < 3; ++i) AddJob("job-" + std::to_string(i));
    for (int step = 0; step < 25; ++step) {
      if (OneIn(3)) plane_.CrashAt(1 + Below(5), OneIn(2));
      Act();
      plane_.Pass(std::chrono::milliseconds(Below(15'000)));
    }
    // Now everybody may come to an end.
    for (const auto& [uid, job] : observer_.jobs)
      if (!job.gone && !job.name.empty()) plane_.Patch({{"spec", {{"suspend", false}}}}, job.name);
    plane_.Script("", {{"run-for", "1s"}});
    plane_.Idle(48h);
    Check();
  }

 private:
  int Below(int bound) { return static_cast<int>(prng_.Below(static_cast<std::uint64_t>(bound))); }
  bool OneIn(int n) { return Below(n) == 0; }

  void AddJob(const std::string& name) {
    const int completions = 1 + Below(5);
    Json spec = {{"completions", completions},
                 {"parallelism", 1 + Below(4)},
                 {"backoffLimit", 2 + Below(5)},
                 {"podReplacementPolicy", OneIn(2) ? "Failed" : "TerminatingOrFailed"}};
    if (OneIn(2)) {
      spec["completionMode"] = "Indexed";
      if (OneIn(3)) spec["backoffLimitPerIndex"] = Below(3);
    } else if (OneIn(5)) {
      spec["completions"] = nullptr;
    }
    if (OneIn(3)) {
      spec["podReplacementPolicy"] = "Failed";
      spec["podFailurePolicy"] = {
          {"rules", {{{"action", "Ignore"}, {"onExitCodes", {{"operator", "In"}, {"values", {kIgnored}}}}}}}};
    }
    if (OneIn(6)) spec["activeDeadlineSeconds"] = 30 + Below(120);
    if (OneIn(6)) spec["suspend"] = true;
    Json script = {{"stop-after", std::to_string(Below(15)) + "s"}, {"stop-exit-code", std::to_string(Below(2))}};
    if (OneIn(3)) script["run-for"] = std::to_string(1 + Below(40)) + "s";
    plane_.AddJob(spec, script, name);
  }

  // What users, nodes and containers do.
  void Act() {
    std::vector<ObjectPtr> pods = plane_.bed().List("pods", "default");
    if (pods.empty()) return;
    const ObjectPtr& pod = pods[static_cast<std::size_t>(Below(static_cast<int>(pods.size())))];
    const api::ObjectName name{"default", pod->header().name};
    const Json request = {{"namespace", "default"}, {"pod", name.name}};
    static constexpr int kCodes[] = {0, 0, 1, 1, kIgnored};
    switch (Below(8)) {
      case 0:
      case 1:
      case 2: {
        Json crash = request;
        crash["exitCode"] = kCodes[Below(5)];
        Tried(plane_.bed().rules().Crash(crash).ok());
        break;
      }
      case 3:
      case 4: Tried(plane_.bed().Delete("pods", name).ok()); break;
      case 5: Tried(plane_.bed().Delete("pods", name, {.grace_period_seconds = 0}).ok()); break;
      case 6: Tried(plane_.bed().rules().Evict(request).ok()); break;
      default: Disturb();
    }
  }
  // It is all the same to the test whether there was still something to be done to that pod.
  static void Tried(bool) {}

  void Disturb() {
    const std::string name = "job-" + std::to_string(Below(3));
    if (plane_.Job(name) == nullptr) return;
    disturbed_.insert(name);
    switch (Below(6)) {
      case 0: plane_.Patch({{"spec", {{"suspend", true}}}}, name); break;
      case 1:
      case 2: plane_.Patch({{"spec", {{"suspend", false}}}}, name); break;
      case 3:
      case 4: plane_.Patch({{"spec", {{"parallelism", 1 + Below(4)}}}}, name); break;
      default:
        plane_.bed().Must(plane_.bed().Delete("jobs", {"default", name},
                                              {.propagation_policy = OneIn(2) ? "Background" : "Orphan"}));
    }
  }

  void Check() {
    EXPECT_EQ(plane_.FinalizersLeft(), 0);
    for (const auto& [uid, job] : observer_.jobs) {
      if (job.name.empty() || job.gone) continue;
      SCOPED_TRACE(job.name + " " + plane_.Job(job.name)->dump());
      EXPECT_TRUE(IsFinished(job.last));
      EXPECT_EQ(job.last.active, 0);
      EXPECT_EQ(job.last.ready, 0);
      EXPECT_EQ(job.last.terminating, 0);
      EXPECT_EQ(job.last.Uncounted(), 0);
      EXPECT_EQ(job.last.failed, static_cast<int>(job.failed.size()));
      for (const std::string& pod : job.failed) EXPECT_FALSE(job.succeeded.contains(pod));
      if (!job.indexed) {
        EXPECT_EQ(job.last.succeeded, static_cast<int>(job.succeeded.size()));
      }
      if (!disturbed_.contains(job.name)) CheckPods(uid, job);
    }
  }

  // Nobody but the pods themselves and those who delete them has had a hand in it: all that ended while the Job looked
  // after them are in its counters.
  void CheckPods(const std::string& uid, const JobHistory& job) {
    const IndexSet completed = IndexSet::Parse(job.last.completed_indexes, 1000);
    std::set<int> succeeded_indexes;
    for (const auto& [pod_uid, pod] : observer_.pods) {
      if (pod.job_uid != uid) continue;
      if (pod.tracked_phase == Phase::kSucceeded && !job.failed.contains(pod_uid)) {
        succeeded_indexes.insert(pod.index);
        EXPECT_TRUE(job.indexed ? completed.Has(pod.index) : job.succeeded.contains(pod_uid)) << pod_uid;
      }
      if (pod.tracked_phase == Phase::kFailed) {
        const bool ignored = job.ignores && pod.exit_code == kIgnored;
        EXPECT_EQ(job.failed.contains(pod_uid), !ignored) << pod_uid;
      }
      // It succeeded after it had been put down as failed: while it terminated, or when the Job failed.
      if (job.failed.contains(pod_uid) && pod.tracked_phase == Phase::kSucceeded) {
        const bool job_failed = TrueCondition(job.last, kFailed).has_value();
        EXPECT_TRUE(pod.tracked_deleting && (job_failed || !job.replaces_failed_only)) << pod_uid;
      }
    }
    if (!job.indexed) return;
    EXPECT_EQ(job.last.succeeded, completed.size());
    EXPECT_EQ(static_cast<int>(succeeded_indexes.size()), completed.size()) << job.last.completed_indexes;
  }

  JobPlane plane_;
  Observer observer_;
  api::Prng prng_;
  std::set<std::string> disturbed_;
};

TEST(JobProperty, CountersEqualWhatHappenedWhereverTheControllerCrashes) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJobs(seed).Run();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace terrarium::controllers::job
