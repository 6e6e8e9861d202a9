#include <gtest/gtest.h>

#include "controllers/job/internal/accounting.h"
#include "tests/controllers/job/job_testing.h"

namespace terrarium::controllers::job {
namespace {

using testing::FailurePolicy;
using testing::Json;
using testing::kNow;
using testing::Pod;
using testing::Spec;
using Strings = std::vector<std::string>;

struct SyncCase {
  Json document;
  JobStatus status = {};
  std::vector<JobPodPtr> pods = {};
  UidSet removals = {};
  std::optional<Condition> end = {};
  bool deleting = false;
  Tally tally = {};
  Accounting accounting = {};

  void Run() {
    const JobSpec spec = ReadJobSpec(document, {});
    Carried carried;
    tally = TallyOf(spec, status, pods, removals, carried);
    accounting = Account(spec, tally, end, deleting, status);
  }
  Strings Released() const {
    Strings out;
    for (const PodFacts* pod : accounting.finalizers_off) out.push_back(pod->name);
    return out;
  }
};

TEST(Accounting, FinishedPodsBecomeUncountedAndRunningOnesDoNot) {
  SyncCase sync{.document = Spec({{"completions", 9}})};
  sync.pods = {Pod("a").Phase("Succeeded"), Pod("b").Phase("Failed"), Pod("c").Phase("Running"),
               Pod("d").Phase("Succeeded").WithoutFinalizer()};
  sync.Run();
  EXPECT_EQ(sync.status.uncounted_succeeded, Strings{"a"});
  EXPECT_EQ(sync.status.uncounted_failed, Strings{"b"});
  EXPECT_EQ(sync.Released(), (Strings{"a", "b"}));
  EXPECT_EQ(sync.status.succeeded + sync.status.failed, 0) << "not before the finalizers are off";
}

TEST(Accounting, UidsWhosePodsHaveNoFinalizerAnyMoreGoIntoTheCounters) {
  SyncCase sync{.document = Spec({{"completions", 9}})};
  sync.status.uncounted_succeeded = {"freed", "gone", "held", "asked"};
  sync.status.uncounted_failed = {"gone-too"};
  sync.removals = {"asked"};
  sync.pods = {Pod("freed").Phase("Succeeded").WithoutFinalizer(), Pod("held").Phase("Succeeded"),
               Pod("asked").Phase("Succeeded")};
  sync.Run();
  EXPECT_EQ(sync.status.uncounted_succeeded, Strings{"held"}) << "and is not recorded twice";
  EXPECT_EQ(sync.Released(), Strings{"held"});
  EXPECT_EQ(sync.status.succeeded, 3);
  EXPECT_EQ(sync.status.failed, 1);
}

TEST(Accounting, ATerminatingPodCountedAsFailedStaysFailedWhenItSucceeds) {
  SyncCase sync{.document = Spec({{"completions", 9}})};
  sync.pods = {Pod("a").Phase("Running").Deleting()};
  sync.Run();
  EXPECT_EQ(sync.status.uncounted_failed, Strings{"a"});
  // Its finalizer is not removed, and the pod ends meanwhile.
  sync.pods = {Pod("a").Phase("Succeeded").Deleting()};
  sync.Run();
  EXPECT_EQ(sync.status.uncounted_failed, Strings{"a"});
  EXPECT_EQ(sync.status.uncounted_succeeded, Strings{});
  CountWithoutFinalizer({}, sync.status);
  EXPECT_EQ(sync.status.failed, 1);
  EXPECT_EQ(sync.status.succeeded, 0);
}

TEST(Accounting, IgnoredFailuresLoseTheirFinalizerAndLeaveNoTrace) {
  SyncCase sync{.document = Spec({{"podFailurePolicy", FailurePolicy("Ignore", 3)}})};
  sync.pods = {Pod("a").Phase("Failed").ExitCode(3), Pod("b").Phase("Failed").ExitCode(1)};
  sync.Run();
  EXPECT_EQ(sync.Released(), (Strings{"a", "b"}));
  EXPECT_EQ(sync.status.uncounted_failed, Strings{"b"});
  EXPECT_EQ(sync.accounting.by_policy, (std::map<FailureAction, int>{{FailureAction::kIgnore, 1}}));
}

TEST(Accounting, ThePodKeptForItsIndexKeepsItsFinalizer) {
  SyncCase sync{.document =
                    Spec({{"completions", 2}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 5}})};
  sync.pods = {Pod("old").Phase("Failed").Index(0), Pod("new").Phase("Failed").Index(0).Failures(1)};
  sync.Run();
  EXPECT_EQ(sync.Released(), Strings{"old"});
  EXPECT_EQ(sync.status.failed_indexes, "");
  sync.pods.push_back(Pod("next").Phase("Running").Index(0).Failures(2));
  sync.Run();
  EXPECT_EQ(sync.Released(), (Strings{"new", "old"}));
}

TEST(Accounting, AFailedJobCountsAllItsPodsAndASuccessfulJobReleasesThem) {
  SyncCase sync{.document = Spec({{"completions", 9}})};
  sync.pods = {Pod("a").Phase("Running"), Pod("b").Phase("Succeeded")};
  SyncCase failing = sync, succeeding = sync, going = sync;
  failing.end = Condition{std::string(kFailureTarget), "DeadlineExceeded", ""};
  failing.Run();
  EXPECT_EQ(failing.status.uncounted_failed, Strings{"a"});
  EXPECT_EQ(failing.status.uncounted_succeeded, Strings{"b"});
  succeeding.end = Condition{std::string(kSuccessCriteriaMet), "SuccessPolicy", ""};
  succeeding.Run();
  EXPECT_EQ(succeeding.status.uncounted_failed, Strings{});
  EXPECT_EQ(succeeding.Released(), (Strings{"a", "b"}));
  going.deleting = true;
  going.Run();
  EXPECT_EQ(going.Released(), (Strings{"a", "b"}));
  EXPECT_EQ(going.status.uncounted_failed, Strings{}) << "the counters of a deleted Job are not used";
}

TEST(Accounting, NoMoreThanFiveHundredBecomeUncountedAtATime) {
  for (bool indexed : {false, true}) {
    Json spec = {{"completions", 2000}};
    if (indexed) spec["completionMode"] = "Indexed";
    SyncCase sync{.document = Spec(spec)};
    for (int i = 0; i < 620; ++i)
      sync.pods.push_back(Pod("p" + std::to_string(i)).Phase("Succeeded").Index(i));
    sync.Run();
    EXPECT_EQ(sync.accounting.finalizers_off.size(), 500u);
    EXPECT_TRUE(sync.accounting.full);
    EXPECT_EQ(sync.status.uncounted_succeeded.size(), indexed ? 0u : 500u);
    sync.pods.resize(400);
    sync.status = {};
    sync.Run();
    EXPECT_FALSE(sync.accounting.full);
  }
}

TEST(Accounting, AnElasticJobThatShrinksForgetsIndexesBeyondItsEnd) {
  SyncCase sync{.document = Spec({{"completions", 2}, {"completionMode", "Indexed"}})};
  sync.status.completed_indexes = "0,3";
  sync.status.succeeded = 2;
  sync.pods = {Pod("a").Phase("Succeeded").Index(4), Pod("b").Phase("Failed").Index(5)};
  sync.Run();
  EXPECT_EQ(sync.status.completed_indexes, "0");
  EXPECT_EQ(sync.status.succeeded, 1);
  EXPECT_EQ(sync.status.uncounted_failed, Strings{});
  EXPECT_EQ(sync.Released(), (Strings{"a", "b"})) << "they go without being counted";
}

}  // namespace
}  // namespace terrarium::controllers::job
