#include <gtest/gtest.h>

#include "controllers/job/internal/tally.h"
#include "tests/controllers/job/job_testing.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using testing::FailurePolicy;
using testing::Json;
using testing::kNow;
using testing::Pod;
using testing::PodMaker;
using testing::Spec;

std::string EndName(const std::optional<Condition>& end) {
  return end ? end->type + "/" + end->reason : "none";
}

struct SyncCase {
  Json document;
  api::FeatureGates gates = {};
  JobStatus status = {};
  std::vector<JobPodPtr> pods = {};
  UidSet removals = {};
  Carried carried = {};

  JobSpec spec() const { return ReadJobSpec(document, gates); }
  Tally Run() { return TallyOf(spec(), status, pods, removals, carried); }
  std::string End() { return EndName(EndOf(spec(), status, Run(), kNow)); }
};

TEST(Tally, CountsNewUncountedAndCountedPods) {
  SyncCase sync{.document = Spec({{"completions", 9}})};
  sync.status.succeeded = 2;
  sync.status.failed = 1;
  sync.status.uncounted_succeeded = {"written"};
  sync.pods = {Pod("written").Phase("Succeeded"), Pod("new").Phase("Succeeded"),
               Pod("failed").Phase("Failed"), Pod("running").Phase("Running").Ready(), Pod("pending")};
  Tally tally = sync.Run();
  EXPECT_EQ(tally.succeeded, 4);
  EXPECT_EQ(tally.failed, 2);
  EXPECT_EQ(tally.counts.active(), 2);
  EXPECT_EQ(tally.counts.ready(), 1);
}

TEST(Tally, APodWithAPendingFinalizerRemovalIsAlreadyInTheCounters) {
  SyncCase sync{.document = Spec({{"completions", 9}})};
  sync.status.succeeded = 1;
  sync.removals = {"a"};
  sync.pods = {Pod("a").Phase("Succeeded")};
  EXPECT_EQ(sync.Run().succeeded, 1);
}

TEST(Tally, AnIndexedJobCountsIndexesNotPods) {
  SyncCase sync{.document = Spec({{"completions", 5}, {"completionMode", "Indexed"}})};
  sync.status.succeeded = 2;
  sync.status.completed_indexes = "0,3";
  sync.pods = {Pod("a").Phase("Succeeded").Index(3), Pod("b").Phase("Succeeded").Index(1),
               Pod("c").Phase("Succeeded").Index(1), Pod("d").Phase("Succeeded").Index(7)};
  Tally tally = sync.Run();
  EXPECT_EQ(tally.completed_indexes.String(), "0,1,3");
  EXPECT_EQ(tally.completed_before.String(), "0,3");
  EXPECT_EQ(tally.succeeded, 3);
}

TEST(Tally, FailuresThatThePolicyIgnoresDoNotCount) {
  SyncCase sync{.document = Spec({{"podFailurePolicy", FailurePolicy("Ignore", 3)}})};
  sync.pods = {Pod("a").Phase("Failed").ExitCode(3), Pod("b").Phase("Failed").ExitCode(1)};
  EXPECT_EQ(sync.Run().failed, 1);
}

TEST(Tally, TheLastFailedPodOfAnIndexIsKeptUntilItIsReplaced) {
  SyncCase sync{.document =
                    Spec({{"completions", 3}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 2}})};
  sync.pods = {Pod("a").Phase("Failed").Index(0), Pod("b").Phase("Failed").Index(1).Failures(2),
               Pod("c").Phase("Failed").Index(2), Pod("d").Phase("Running").Index(2)};
  Tally tally = sync.Run();
  EXPECT_EQ(tally.failed_indexes->String(), "1");
  ASSERT_EQ(tally.kept.size(), 1u) << "index 1 has failed for good, index 2 has its next pod";
  EXPECT_EQ(tally.kept.at(0)->name, "a");
}

TEST(Tally, IndexesAreReadOnceAndAgainWhenTheyOrTheJobChange) {
  CarriedIndexes carried;
  EXPECT_EQ(carried.Read("0-4", 10).size(), 5);
  EXPECT_EQ(&carried.Read("0-4", 10), &carried.Read("0-4", 10));
  EXPECT_EQ(carried.Read("0-4", 2).size(), 2);
  EXPECT_EQ(carried.Read("0-5", 10).size(), 6);
}

TEST(JobEnd, ComesInKubernetesOrder) {
  // All together: the policy takes precedence over the limits, the limits over the deadline.
  SyncCase sync{.document = Spec({{"backoffLimit", 0},
                                  {"activeDeadlineSeconds", 5},
                                  {"podFailurePolicy", FailurePolicy("FailJob", 42)}})};
  sync.status.start_time = kNow - 1min;
  sync.pods = {Pod("a").Phase("Failed").ExitCode(42)};
  EXPECT_EQ(sync.End(), "FailureTarget/PodFailurePolicy");
  sync.pods = {Pod("a").Phase("Failed").ExitCode(1)};
  EXPECT_EQ(sync.End(), "FailureTarget/BackoffLimitExceeded");
  sync.pods = {};
  EXPECT_EQ(sync.End(), "FailureTarget/DeadlineExceeded");
  sync.status.start_time = kNow;
  EXPECT_EQ(sync.End(), "none");
  // The result of an earlier sync is kept.
  AppendTrue(sync.status, {std::string(kFailureTarget), "DeadlineExceeded", "m"}, kNow);
  EXPECT_EQ(sync.End(), "Failed/DeadlineExceeded");
}

TEST(JobEnd, ASuccessThatWasFoundIsNotUndoneByAFailureAfterIt) {
  SyncCase sync{.document = Spec({{"backoffLimit", 0}})};
  AppendTrue(sync.status, {std::string(kSuccessCriteriaMet), "SuccessPolicy", "m"}, kNow);
  sync.pods = {Pod("a").Phase("Failed")};
  EXPECT_EQ(sync.End(), "SuccessCriteriaMet/SuccessPolicy");
}

TEST(JobEnd, FailuresOfIndexesGoBeforeTheSuccessPolicy) {
  SyncCase sync{.document = Spec({{"completions", 2},
                                  {"completionMode", "Indexed"},
                                  {"backoffLimit", 100},
                                  {"backoffLimitPerIndex", 0},
                                  {"successPolicy", {{"rules", {{{"succeededCount", 1}}}}}}})};
  sync.pods = {Pod("a").Phase("Succeeded").Index(0)};
  EXPECT_EQ(sync.End(), "SuccessCriteriaMet/SuccessPolicy");
  sync.pods.push_back(Pod("b").Phase("Failed").Index(1));
  EXPECT_EQ(sync.End(), "FailureTarget/FailedIndexes");
  sync.document["spec"]["maxFailedIndexes"] = 0;
  EXPECT_EQ(sync.End(), "FailureTarget/MaxFailedIndexesExceeded");
}

TEST(JobEnd, WithoutTheGatesThatDelayItTheTerminalConditionIsSetImmediately) {
  SyncCase sync{.document = Spec({{"backoffLimit", 0}}),
                .gates = *api::FeatureGates().With("JobPodReplacementPolicy=false,JobManagedBy=false")};
  sync.pods = {Pod("a").Phase("Failed")};
  EXPECT_EQ(sync.End(), "Failed/BackoffLimitExceeded");
  EXPECT_EQ(CompletionsReached(sync.spec()).type, kComplete);
  sync.gates = *api::FeatureGates().With("JobPodReplacementPolicy=false");
  EXPECT_EQ(sync.End(), "FailureTarget/BackoffLimitExceeded") << "JobManagedBy alone delays it";
}

TEST(JobEnd, ADeadlineCountsOnlyWhileTheJobRuns) {
  SyncCase sync{.document = Spec({{"activeDeadlineSeconds", 60}})};
  EXPECT_EQ(DeadlineLeft(sync.spec(), sync.status, kNow), std::nullopt) << "not started";
  sync.status.start_time = kNow - 20s;
  EXPECT_EQ(DeadlineLeft(sync.spec(), sync.status, kNow), 40s);
  sync.status.start_time = kNow - 2min;
  EXPECT_EQ(DeadlineLeft(sync.spec(), sync.status, kNow), 0s);
  sync.document["spec"]["suspend"] = true;
  EXPECT_EQ(DeadlineLeft(sync.spec(), sync.status, kNow), std::nullopt);
  EXPECT_EQ(sync.End(), "none");
}

TEST(JobEnd, CompletionNeedsAllActivePodsToBeGone) {
  SyncCase sync{.document = Spec({{"completions", 2}})};
  EXPECT_FALSE(IsComplete(sync.spec(), 1, 0));
  EXPECT_FALSE(IsComplete(sync.spec(), 2, 1));
  EXPECT_TRUE(IsComplete(sync.spec(), 2, 0));
  SyncCase queue{.document = Spec({})};
  EXPECT_FALSE(IsComplete(queue.spec(), 0, 0)) << "a work queue needs one success";
  EXPECT_TRUE(IsComplete(queue.spec(), 1, 0));
}

// KEP-3939, unit e and f: terminating pods are counted whether or not they count as failed.
TEST(Tally, TerminatingPodsAreCountedUnderEitherPolicy) {
  struct Case {
    const char* policy;
    const char* gates;
    int failed;
    bool reported;
  };
  for (const Case& each : {Case{"Failed", "", 0, true}, Case{"TerminatingOrFailed", "", 1, true},
                           Case{"Failed", "JobPodReplacementPolicy=false", 1, false}}) {
    SyncCase sync{.document = Spec({{"podReplacementPolicy", each.policy}}),
                  .gates = *api::FeatureGates().With(each.gates)};
    sync.pods = {Pod("a").Phase("Running").Deleting()};
    Tally tally = sync.Run();
    EXPECT_EQ(tally.counts.terminating(), 1) << each.policy << each.gates;
    EXPECT_EQ(tally.failed, each.failed) << each.policy << each.gates;
    EXPECT_EQ(sync.spec().rules.reports_terminating, each.reported) << each.policy << each.gates;
  }
}

}  // namespace
}  // namespace terrarium::controllers::job
