// Random Jobs, random outcomes of their pods and nodes, users who change Jobs, and a controller that crashes
// between any two of its writes, under several gates. The invariants of Jobs are checked at every write as
// well.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "apiserver/in_process_client.h"
#include "controllers/job/internal/indexes.h"
#include "controllers/job/internal/job_status.h"
#include "controllers/job/internal/pod_facts.h"
#include "controllers/runtime/owner_references.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "tests/controllers/job/job_cluster.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobCluster;
using testing::Json;

// The exit codes that the podFailurePolicy of some Jobs names.
constexpr int kIgnored = 3;
constexpr int kFailsIndex = 4;
constexpr int kCounted = 5;
constexpr int kFailsJob = 6;

constexpr const char* kReplacementPolicyOff = "JobPodReplacementPolicy=false";
constexpr std::uint64_t kSeeds = 20;  // for each setting of the gates

struct PodHistory {
  std::string job_uid;
  int index = kUnknownIndex;
  bool has_ended = false;
  Phase tracked_phase = Phase::kPending;  // the last one while the finalizer was set
  bool tracked_deleting = false;
  bool disrupted = false;  // has the condition DisruptionTarget
  int exit_code = 0;
};

struct JobHistory {
  std::string name;
  JobStatus last;
  std::set<std::string> succeeded, failed;  // uids that had to be counted
  bool replaces_failed_only = true;         // at all times
  bool has_failure_policy = false;
  bool indexed = false;
  bool gone = false;
  std::set<std::pair<int, std::string>> running;  // index and uid of pods that have not ended
};

// Sees every revision of Jobs and pods.
class Observer {
 public:
  explicit Observer(JobCluster& cluster)
      : cluster_(cluster),
        prng_(1),
        env_{cluster.bed().control_plane().env().clock,
             cluster.bed().control_plane().runtime().Lane("observer"), prng_, gates_,
             cluster.bed().control_plane().env().log},
        client_(apiserver::MakeInProcessClient(env_, cluster.bed().control_plane().handler(),
                                               cluster.bed().control_plane().store(), {})),
        informers_(env_, *client_) {
    informers_.For("jobs").AddHandler(
        {[this](const ObjectPtr& job) { SeeJob(*job); },
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
    // An elastic Job that is scaled down drops indexes.
    if (!history.indexed) {
      EXPECT_GE(status.succeeded, history.last.succeeded);
    }
    history.name = job.header().name;
    history.last = status;
    history.succeeded.insert(status.uncounted_succeeded.begin(), status.uncounted_succeeded.end());
    history.failed.insert(status.uncounted_failed.begin(), status.uncounted_failed.end());
    history.has_failure_policy = api::Find(*document, "spec", "podFailurePolicy") != nullptr;
    history.replaces_failed_only &=
        history.has_failure_policy || api::StringAt(*document, "spec", "podReplacementPolicy") == "Failed";
    history.indexed = api::StringAt(*document, "spec", "completionMode") == "Indexed";
  }

  void SeePod(const api::Object& pod) {
    std::shared_ptr<const Json> document = pod.Document();
    const PodFacts facts = FactsOf(*document);
    PodHistory& history = pods[facts.uid];
    if (auto owner = ControllerOf(*document)) history.job_uid = owner->uid;
    history.index = facts.index;
    if (facts.has_finalizer) {
      history.tracked_phase = facts.phase;
      history.tracked_deleting = facts.deleting;
    }
    history.disrupted = api::FindCondition(*document, "DisruptionTarget") != nullptr;
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

  JobCluster& cluster_;
  api::FeatureGates gates_;
  api::Prng prng_;
  api::Env env_;
  std::unique_ptr<api::Client> client_;
  InformerSet informers_;
};

class RandomJobs {
 public:
  RandomJobs(std::uint64_t seed, std::string gates)
      : gates_(std::move(gates)),
        cluster_({.seed = seed,
                  .gates = gates_,
                  .apiserver_gates = gates_,
                  .controllers = testing::kFewControllers,
                  .nodes = 2}),
        observer_(cluster_),
        prng_(seed) {}

  void Run() {
    for (int i = 0; i < 3; ++i) AddJob("job-" + std::to_string(i));
    for (int step = 0; step < 25; ++step) {
      if (OneIn(3)) cluster_.CrashAt(1 + Below(5), OneIn(2));
      Act();
      cluster_.Pass(std::chrono::milliseconds(Below(15'000)));
    }
    // From here on all pods may end.
    if (cluster_.bed().Get("nodes", "", kLostNode) == nullptr) LoseOrMendNode();
    for (const auto& [uid, job] : observer_.jobs) {
      if (job.gone || job.name.empty()) continue;
      cluster_.Patch({{"spec", {{"suspend", false}}}}, job.name);
      const bool stands_still = api::IntAt(*cluster_.Job(job.name), 0, "spec", "parallelism") == 0;
      if (stands_still) cluster_.Patch({{"spec", {{"parallelism", 1}}}}, job.name);
    }
    cluster_.Script("", {{"run-for", "1s"}});
    cluster_.Idle(48h);
    Check();
  }

 private:
  int Below(int bound) { return static_cast<int>(prng_.Below(static_cast<std::uint64_t>(bound))); }
  bool OneIn(int n) { return Below(n) == 0; }

  static Json OnExitCode(const char* action, int code) {
    return {{"action", action}, {"onExitCodes", {{"operator", "In"}, {"values", {code}}}}};
  }

  Json FailurePolicy(bool fails_indexes) {
    const Json disrupted = {{"type", "DisruptionTarget"}, {"status", "True"}};
    Json rules = {OnExitCode("Ignore", kIgnored),
                  {{"action", "Ignore"}, {"onPodConditions", Json::array({disrupted})}},
                  OnExitCode("Count", kCounted)};
    if (fails_indexes) rules.push_back(OnExitCode("FailIndex", kFailsIndex));
    if (OneIn(2)) rules.push_back(OnExitCode("FailJob", kFailsJob));
    return {{"rules", rules}};
  }

  void AddJob(const std::string& name) {
    const int completions = Below(6);
    Json spec = {{"completions", completions},
                 {"parallelism", Below(6)},
                 {"backoffLimit", 2 + Below(5)},
                 {"podReplacementPolicy", OneIn(2) ? "Failed" : "TerminatingOrFailed"}};
    if (OneIn(2)) {
      spec["completionMode"] = "Indexed";
      if (OneIn(2)) spec["backoffLimitPerIndex"] = Below(3);
      if (spec.contains("backoffLimitPerIndex") && OneIn(2))
        spec["maxFailedIndexes"] = Below(completions + 1);
      if (completions > 0 && OneIn(4))
        spec["successPolicy"] = {{"rules", {{{"succeededCount", 1 + Below(completions)}}}}};
    } else if (OneIn(5)) {
      spec["completions"] = nullptr;
    }
    if (OneIn(3)) {
      spec["podReplacementPolicy"] = "Failed";
      spec["podFailurePolicy"] = FailurePolicy(spec.contains("backoffLimitPerIndex"));
    } else if (OneIn(5)) {
      spec["template"]["spec"]["restartPolicy"] = "OnFailure";
    }
    if (OneIn(6)) spec["activeDeadlineSeconds"] = 30 + Below(120);
    if (OneIn(6)) spec["suspend"] = true;
    Json script = {{"stop-after", std::to_string(Below(15)) + "s"},
                   {"stop-exit-code", std::to_string(Below(2))}};
    if (OneIn(3)) script["run-for"] = std::to_string(1 + Below(40)) + "s";
    cluster_.AddJob(spec, script, name);
  }

  // Actions of users, nodes and containers.
  void Act() {
    std::vector<ObjectPtr> pods = cluster_.bed().List("pods", "default");
    if (pods.empty()) return;
    const ObjectPtr& pod = pods[static_cast<std::size_t>(Below(static_cast<int>(pods.size())))];
    const api::ObjectName name{"default", pod->header().name};
    const Json request = {{"namespace", "default"}, {"pod", name.name}};
    static constexpr int kCodes[] = {0, 0, 0, 1, 1, kIgnored, kFailsIndex, kCounted, kFailsJob};
    switch (Below(10)) {
      case 0:
      case 1:
      case 2: {
        Json crash = request;
        crash["exitCode"] = kCodes[Below(static_cast<int>(std::size(kCodes)))];
        Tried(cluster_.bed().rules().Crash(crash).ok());
        break;
      }
      case 3:
      case 4: Tried(cluster_.bed().Delete("pods", name).ok()); break;
      case 5: Tried(cluster_.bed().Delete("pods", name, {.grace_period_seconds = 0}).ok()); break;
      case 6: Tried(cluster_.bed().rules().Evict(request).ok()); break;
      case 7: Tried(cluster_.bed().Evict(name).ok()); break;
      case 8: LoseOrMendNode(); break;
      default: Disturb();
    }
  }
  // The pods of a deleted node are collected as orphans.
  void LoseOrMendNode() {
    if (cluster_.bed().Get("nodes", "", kLostNode) != nullptr) {
      cluster_.bed().Must(cluster_.bed().Delete("nodes", {"", kLostNode}));
    } else {
      cluster_.bed().Must(cluster_.bed().Create("nodes", "", {{"metadata", {{"name", kLostNode}}}}));
    }
  }

  // The request may fail: the pod may have ended already.
  static void Tried(bool) {}

  void Disturb() {
    const std::string name = "job-" + std::to_string(Below(3));
    if (cluster_.Job(name) == nullptr) return;
    disturbed_.insert(name);
    const api::ObjectName job{"default", name};
    switch (Below(9)) {
      case 0: cluster_.Patch({{"spec", {{"suspend", true}}}}, name); break;
      case 1:
      case 2: cluster_.Patch({{"spec", {{"suspend", false}}}}, name); break;
      case 3:
      case 4: cluster_.Patch({{"spec", {{"parallelism", Below(6)}}}}, name); break;
      case 5:
      case 6: {
        // Refused if the Job is not indexed or its policies need more indexes.
        const int size = 1 + Below(6);
        Tried(cluster_.bed()
                  .Patch("jobs", job, {{"spec", {{"completions", size}, {"parallelism", size}}}})
                  .ok());
        break;
      }
      case 7: {
        const char* policy = OneIn(2) ? "Failed" : "TerminatingOrFailed";
        Tried(cluster_.bed().Patch("jobs", job, {{"spec", {{"podReplacementPolicy", policy}}}}).ok());
        break;
      }
      default: {
        static constexpr const char* kWays[] = {"Background", "Foreground", "Orphan"};
        cluster_.bed().Must(cluster_.bed().Delete("jobs", job, {.propagation_policy = kWays[Below(3)]}));
      }
    }
  }

  void Check() {
    EXPECT_EQ(cluster_.FinalizersLeft(), 0);
    for (const auto& [uid, job] : observer_.jobs) {
      if (job.name.empty() || job.gone) continue;
      SCOPED_TRACE(job.name + " " + cluster_.Job(job.name)->dump());
      EXPECT_TRUE(IsFinished(job.last));
      EXPECT_EQ(job.last.active, 0);
      EXPECT_EQ(job.last.ready, 0);
      EXPECT_EQ(job.last.terminating, ReportsTerminating() ? std::optional(0) : std::nullopt);
      EXPECT_EQ(job.last.Uncounted(), 0);
      EXPECT_EQ(job.last.failed, static_cast<int>(job.failed.size()));
      for (const std::string& pod : job.failed) EXPECT_FALSE(job.succeeded.contains(pod));
      if (!job.indexed) {
        EXPECT_EQ(job.last.succeeded, static_cast<int>(job.succeeded.size()));
      }
      if (!disturbed_.contains(job.name)) CheckPods(uid, job);
    }
  }

  // Every pod that ended while the Job tracked it is in the Job's counters.
  void CheckPods(const std::string& uid, const JobHistory& job) {
    const IndexSet completed = IndexSet::Parse(job.last.completed_indexes, 1000);
    const bool job_failed = TrueCondition(job.last, kFailed).has_value();
    std::set<int> succeeded_indexes;
    for (const auto& [pod_uid, pod] : observer_.pods) {
      if (pod.job_uid != uid) continue;
      if (pod.tracked_phase == Phase::kSucceeded && !job.failed.contains(pod_uid)) {
        succeeded_indexes.insert(pod.index);
        EXPECT_TRUE(job.indexed ? completed.Has(pod.index) : job.succeeded.contains(pod_uid)) << pod_uid;
      }
      if (pod.tracked_phase == Phase::kFailed) {
        const bool ignored = job.has_failure_policy && (pod.exit_code == kIgnored || pod.disrupted);
        // A pod that still ran when the Job failed was counted as failed before it ended.
        if (!(ignored && job_failed)) {
          EXPECT_EQ(job.failed.contains(pod_uid), !ignored) << pod_uid;
        }
      }
      // It succeeded after it had been counted as failed: while it terminated, or when the Job failed.
      if (job.failed.contains(pod_uid) && pod.tracked_phase == Phase::kSucceeded) {
        EXPECT_TRUE(pod.tracked_deleting && (job_failed || !job.replaces_failed_only)) << pod_uid;
      }
    }
    if (!job.indexed) return;
    EXPECT_EQ(job.last.succeeded, completed.size());
    EXPECT_EQ(static_cast<int>(succeeded_indexes.size()), completed.size()) << job.last.completed_indexes;
  }

  bool ReportsTerminating() const { return gates_ != kReplacementPolicyOff; }

  static constexpr const char* kLostNode = "node-1";
  std::string gates_;
  JobCluster cluster_;
  Observer observer_;
  api::Prng prng_;
  std::set<std::string> disturbed_;
};

class JobProperty : public ::testing::TestWithParam<const char*> {};

TEST_P(JobProperty, CountersEqualWhatHappenedWhereverTheControllerCrashes) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJobs(seed, GetParam()).Run();
    if (::testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Gates, JobProperty,
                         ::testing::Values("", kReplacementPolicyOff, "PodDisruptionConditions=false"));

}  // namespace
}  // namespace terrarium::controllers::job
