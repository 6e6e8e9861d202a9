// Lines of KEP-3939, KEP-2255 and KEP-3189 that concern a whole cluster. Each test names its line of
// docs/kep-coverage.md.

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "storage/store.h"
#include "tests/controllers/replicaset/picker_testing.h"

namespace terrarium::scenarios {
namespace {

using api::Json;
using controllers_testing::Fails;
using controllers_testing::kDeletionCost;
using controllers_testing::MakePods;
using controllers_testing::PickerCluster;
using controllers_testing::PickerSpec;
using controllers_testing::Picks;
using controllers_testing::ReplicaBed;
using controllers_testing::ReplicaSet;
using testing::ElementsAre;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kExactTimes = "LogarithmicScaleDown=false";

// A Job of two pods that run for an hour and take 30 s to stop.
class JobBed : public ReplicaBed {
 public:
  JobBed() : ReplicaBed({.nodes = 2}) {}
  void AddJob(const std::string& name, const char* policy) {
    const Json annotations = {{"terrarium.dev/run-for", "1h"},
                              {"terrarium.dev/stop-after", "30s"},
                              {"terrarium.dev/stop-exit-code", "1"}};
    const Json containers = Json::array({Json{{"name", "c"}, {"image", "i"}}});
    Must(Create("jobs", "default",
                {{"metadata", {{"name", name}}},
                 {"spec",
                  {{"parallelism", 2},
                   {"completions", 2},
                   {"backoffLimit", 10},
                   {"podReplacementPolicy", policy},
                   {"template",
                    {{"metadata", {{"annotations", annotations}}},
                     {"spec", {{"restartPolicy", "Never"}, {"containers", containers}}}}}}}}));
    clock().Advance(5s);
  }
  std::vector<std::string> PodsOfJob(const std::string& name, bool terminating) {
    std::vector<std::string> names;
    for (const api::ObjectPtr& pod : List("pods", "default")) {
      const bool ended = api::StringAt(*pod->Document(), "status", "phase") == "Failed";
      if (!ended && pod->header().deleting == terminating && pod->header().name.starts_with(name + "-"))
        names.push_back(pod->header().name);
    }
    return names;
  }
  double Created(const std::string& reason) {
    return Metric("job_controller_job_pods_creation_total{reason=\"" + reason + "\",status=\"succeeded\"}");
  }
};

// Beta: "job_pods_creation_total metric is added", with all its reasons.
TEST(Kep3939, Beta4PodsCreatedAreCountedByWhatMadeThem) {
  JobBed bed;
  bed.AddJob("slow", "Failed");
  bed.AddJob("fast", "TerminatingOrFailed");
  EXPECT_EQ(bed.Created("new"), 4);
  EXPECT_EQ(bed.Created("recreate_failed"), -1);
  EXPECT_EQ(bed.Created("recreate_terminating_or_failed"), -1);
  for (const char* job : {"slow", "fast"})
    bed.Must(bed.Delete("pods", {"default", bed.PodsOfJob(job, false)[0]}));
  bed.clock().Advance(20s);
  EXPECT_EQ(bed.Created("recreate_terminating_or_failed"), 1) << "beside the terminating pod";
  EXPECT_EQ(bed.Created("recreate_failed"), -1) << "not before it has failed";
  bed.clock().Advance(1min);
  EXPECT_EQ(bed.Created("recreate_failed"), 1);
  EXPECT_EQ(bed.Created("new"), 4);
}

// "How does this feature react if the API server and/or etcd is unavailable?": no change from existing
// behavior.
TEST(Kep3939, Prr18WithoutAnApiserverAJobWaitsAndGoesOnByItsPolicy) {
  JobBed bed;
  bed.AddJob("slow", "Failed");
  bed.Must(bed.Delete("pods", {"default", bed.PodsOfJob("slow", false)[0]}));
  bed.clock().Advance(2s);
  ASSERT_THAT(bed.PodsOfJob("slow", true), SizeIs(1));
  bed.Must(bed.Crash("apiserver"));
  bed.clock().Advance(5s);
  bed.Must(bed.Start("apiserver"));
  bed.clock().Advance(5s);
  EXPECT_THAT(bed.PodsOfJob("slow", true), SizeIs(1));
  EXPECT_THAT(bed.PodsOfJob("slow", false), SizeIs(1)) << "no replacement beside it";
  EXPECT_EQ(bed.StatusOf("jobs", "slow")["terminating"], 1);
  bed.clock().Advance(2min);
  EXPECT_THAT(bed.PodsOfJob("slow", false), SizeIs(2));
  EXPECT_EQ(bed.StatusOf("jobs", "slow")["failed"], 1);
}

// "... in increasing time taken by any operations?": one more sort key. A scale-down waits for nothing more,
// and needs the same writes with and without costs. PodChoice compares the processor time of ranking.
TEST(Kep2255, Prr13AScaleDownTakesTheSameTimeAndWritesWithCosts) {
  struct ScaleDown {
    api::Duration took{};
    std::int64_t revisions = 0;
    bool operator==(const ScaleDown&) const = default;
  };
  auto scale_down = [](const char* cost) {
    ReplicaBed bed({.nodes = 2});
    MakePods(bed, std::vector<const char*>(60, cost));
    bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", 60)));
    bed.Settle();
    const api::Time start = bed.Now();
    const std::int64_t revision = bed.control_plane().store().CurrentRevision();
    bed.Scale("replicasets", "web", 5);
    auto done = [&] { return bed.List("pods", "default").size() == 5; };
    EXPECT_EQ(bed.clock().RunUntil(done, 1h).why, testbed::RunOutcome::Why::kDone);
    return ScaleDown{bed.Now() - start, bed.control_plane().store().CurrentRevision() - revision};
  };
  const ScaleDown without = scale_down(nullptr);
  EXPECT_EQ(scale_down("7"), without);
  EXPECT_GE(without.revisions, 55);
}

// "How does this feature react if the API server and/or etcd is unavailable?": the annotation cannot be set,
// and pods without it are deleted in the normal order.
TEST(Kep2255, Prr14WithoutAnApiserverNoCostCanBeSetAndTheNormalOrderCounts) {
  ReplicaBed bed({.feature_gates = kExactTimes, .nodes = 1});
  MakePods(bed, {nullptr, nullptr, nullptr});
  const api::ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", 3)));
  bed.Settle();
  bed.Must(bed.Crash("apiserver"));
  const Json cheap = {{"metadata", {{"annotations", {{std::string(kDeletionCost), "-1"}}}}}};
  EXPECT_FALSE(bed.Patch("pods", {"default", "p0"}, cheap).ok());
  bed.clock().Advance(1s);
  bed.Must(bed.Start("apiserver"));
  bed.Settle();
  bed.Scale("replicasets", "web", 2);
  bed.Settle();
  EXPECT_THAT(bed.PodNamesOf(owner), ElementsAre("p0", "p1"))
      << "the youngest went, not the one meant to be cheap";
}

// Risks: deletion order is best effort. Earlier criteria decide first, however low another pod's cost is.
TEST(Kep2255, Risk1TheCostIsNotAGuarantee) {
  ReplicaBed bed({.feature_gates = kExactTimes, .nodes = 1});
  MakePods(bed, {"-2147483647", nullptr});
  Json waiting = controllers_testing::Pod("unscheduled", {{"app", "web"}});
  waiting["metadata"]["annotations"][std::string(kDeletionCost)] = "2147483647";
  waiting["spec"]["nodeSelector"] = {{"nowhere", "true"}};
  bed.Must(bed.Create("pods", "default", waiting));
  const api::ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", 3)));
  bed.Settle();
  bed.Scale("replicasets", "web", 2);
  bed.Settle();
  EXPECT_THAT(bed.PodNamesOf(owner), ElementsAre("p0", "p1"));
}

// Design Details: pods without a cost are in the middle, so that an application can have them deleted first
// or last.
TEST(Kep2255, Behaviour3PodsWithoutACostAreInTheMiddle) {
  ReplicaBed bed({.feature_gates = kExactTimes, .nodes = 1});
  MakePods(bed, {"5", nullptr, "-5"});
  const api::ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", 3)));
  bed.Settle();
  bed.Scale("replicasets", "web", 2);
  bed.Settle();
  EXPECT_THAT(bed.PodNamesOf(owner), ElementsAre("p0", "p1"));
  bed.Scale("replicasets", "web", 1);
  bed.Settle();
  EXPECT_THAT(bed.PodNamesOf(owner), ElementsAre("p0"));
}

// Risks: a slow API. The call has timeoutSeconds. After a time-out all pods rank equally, without another
// call.
TEST(Kep3189, Risk1AfterTimeoutSecondsThePodsGoWithoutThePicker) {
  PickerCluster cluster;
  cluster.caller.answer = [](const api::HttpCall&) {
    return Fails(api::HttpAnswer::Outcome::kTimedOut, "no answer after 2s");
  };
  cluster.Start(3, PickerSpec({{"maxRetries", 3}, {"timeoutSeconds", 2}}));
  EXPECT_THAT(cluster.GoneAt(2), ElementsAre("p2")) << "the youngest";
  ASSERT_THAT(cluster.caller.calls, SizeIs(1));
  EXPECT_EQ(cluster.caller.calls[0].timeout, 2s);
  EXPECT_EQ(cluster.Metric("failures_total{reason=\"timeout\"}"), 1);
}

// Risks: an extremely large payload. The call has the limit of 1 MiB, and a larger answer is refused.
TEST(Kep3189, Risk4AnAnswerBeyondOneMebibyteIsRefused) {
  PickerCluster cluster;
  cluster.caller.answer = [](const api::HttpCall& call) {
    EXPECT_EQ(call.answer_bytes_max, 1024u * 1024u);
    return Fails(api::HttpAnswer::Outcome::kTooLarge, "the answer has more than 1 MiB");
  };
  cluster.Start(3, PickerSpec({{"maxRetries", 1}}));
  EXPECT_THAT(cluster.GoneAt(2), ElementsAre("p2"));
  EXPECT_THAT(cluster.caller.calls, SizeIs(2));
  EXPECT_EQ(cluster.Metric("failures_total{reason=\"too_large\"}"), 1);
}

}  // namespace
}  // namespace terrarium::scenarios
