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

struct Look {
  Json document;
  api::FeatureGates gates = {};
  JobStatus status = {};
  std::vector<JobPodPtr> pods = {};
  UidSet removals = {};
  Carried carried = {};

  JobSpec spec() const { return ReadJobSpec(document, gates); }
  Tally Take() { return TallyOf(spec(), status, pods, removals, carried); }
  std::string End() { return EndName(EndOf(spec(), status, Take(), kNow)); }
};

TEST(Tally, CountsWhatIsNewAndWhatIsWrittenDownAndWhatIsCounted) {
  Look look{.document = Spec({{"completions", 9}})};
  look.status.succeeded = 2;
  look.status.failed = 1;
  look.status.uncounted_succeeded = {"written"};
  look.pods = {Pod("written").Phase("Succeeded"), Pod("new").Phase("Succeeded"),
               Pod("failed").Phase("Failed"), Pod("running").Phase("Running").Ready(), Pod("pending")};
  Tally tally = look.Take();
  EXPECT_EQ(tally.succeeded, 4);
  EXPECT_EQ(tally.failed, 2);
  EXPECT_EQ(tally.counts.active(), 2);
  EXPECT_EQ(tally.counts.ready(), 1);
}

TEST(Tally, APodWhoseFinalizerWasAskedToComeOffIsInTheCountersAlready) {
  Look look{.document = Spec({{"completions", 9}})};
  look.status.succeeded = 1;
  look.removals = {"a"};
  look.pods = {Pod("a").Phase("Succeeded")};
  EXPECT_EQ(look.Take().succeeded, 1);
}

TEST(Tally, AnIndexedJobCountsIndexesNotPods) {
  Look look{.document = Spec({{"completions", 5}, {"completionMode", "Indexed"}})};
  look.status.succeeded = 2;
  look.status.completed_indexes = "0,3";
  look.pods = {Pod("a").Phase("Succeeded").Index(3), Pod("b").Phase("Succeeded").Index(1),
               Pod("c").Phase("Succeeded").Index(1), Pod("d").Phase("Succeeded").Index(7)};
  Tally tally = look.Take();
  EXPECT_EQ(tally.completed_indexes.String(), "0,1,3");
  EXPECT_EQ(tally.completed_before.String(), "0,3");
  EXPECT_EQ(tally.succeeded, 3);
}

TEST(Tally, FailuresThatThePolicyIgnoresAreNoFailures) {
  Look look{.document = Spec({{"podFailurePolicy", FailurePolicy("Ignore", 3)}})};
  look.pods = {Pod("a").Phase("Failed").ExitCode(3), Pod("b").Phase("Failed").ExitCode(1)};
  EXPECT_EQ(look.Take().failed, 1);
}

TEST(Tally, TheLastFailedPodOfAnIndexIsKeptUntilItIsReplaced) {
  Look look{.document =
                Spec({{"completions", 3}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 2}})};
  look.pods = {Pod("a").Phase("Failed").Index(0), Pod("b").Phase("Failed").Index(1).Failures(2),
               Pod("c").Phase("Failed").Index(2), Pod("d").Phase("Running").Index(2)};
  Tally tally = look.Take();
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
  // All at once: the policy goes before the limits, the limits before the deadline.
  Look look{.document = Spec({{"backoffLimit", 0},
                              {"activeDeadlineSeconds", 5},
                              {"podFailurePolicy", FailurePolicy("FailJob", 42)}})};
  look.status.start_time = kNow - 1min;
  look.pods = {Pod("a").Phase("Failed").ExitCode(42)};
  EXPECT_EQ(look.End(), "FailureTarget/PodFailurePolicy");
  look.pods = {Pod("a").Phase("Failed").ExitCode(1)};
  EXPECT_EQ(look.End(), "FailureTarget/BackoffLimitExceeded");
  look.pods = {};
  EXPECT_EQ(look.End(), "FailureTarget/DeadlineExceeded");
  look.status.start_time = kNow;
  EXPECT_EQ(look.End(), "none");
  // What an earlier look has found is kept.
  AppendTrue(look.status, {std::string(kFailureTarget), "DeadlineExceeded", "m"}, kNow);
  EXPECT_EQ(look.End(), "Failed/DeadlineExceeded");
}

TEST(JobEnd, ASuccessThatWasFoundIsNotUndoneByAFailureAfterIt) {
  Look look{.document = Spec({{"backoffLimit", 0}})};
  AppendTrue(look.status, {std::string(kSuccessCriteriaMet), "SuccessPolicy", "m"}, kNow);
  look.pods = {Pod("a").Phase("Failed")};
  EXPECT_EQ(look.End(), "SuccessCriteriaMet/SuccessPolicy");
}

TEST(JobEnd, FailuresOfIndexesGoBeforeTheSuccessPolicy) {
  Look look{.document = Spec({{"completions", 2},
                              {"completionMode", "Indexed"},
                              {"backoffLimit", 100},
                              {"backoffLimitPerIndex", 0},
                              {"successPolicy", {{"rules", {{{"succeededCount", 1}}}}}}})};
  look.pods = {Pod("a").Phase("Succeeded").Index(0)};
  EXPECT_EQ(look.End(), "SuccessCriteriaMet/SuccessPolicy");
  look.pods.push_back(Pod("b").Phase("Failed").Index(1));
  EXPECT_EQ(look.End(), "FailureTarget/FailedIndexes");
  look.document["spec"]["maxFailedIndexes"] = 0;
  EXPECT_EQ(look.End(), "FailureTarget/MaxFailedIndexesExceeded");
}

TEST(JobEnd, WithoutTheGatesThatDelayItTheTerminalConditionComesAtOnce) {
  Look look{.document = Spec({{"backoffLimit", 0}}),
            .gates = *api::FeatureGates().With("JobPodReplacementPolicy=false,JobManagedBy=false")};
  look.pods = {Pod("a").Phase("Failed")};
  EXPECT_EQ(look.End(), "Failed/BackoffLimitExceeded");
  EXPECT_EQ(CompletionsReached(look.spec()).type, kComplete);
  look.gates = *api::FeatureGates().With("JobPodReplacementPolicy=false");
  EXPECT_EQ(look.End(), "FailureTarget/BackoffLimitExceeded") << "JobManagedBy alone delays it";
}

TEST(JobEnd, ADeadlineCountsOnlyWhileTheJobRuns) {
  Look look{.document = Spec({{"activeDeadlineSeconds", 60}})};
  EXPECT_EQ(DeadlineLeft(look.spec(), look.status, kNow), std::nullopt) << "not started";
  look.status.start_time = kNow - 20s;
  EXPECT_EQ(DeadlineLeft(look.spec(), look.status, kNow), 40s);
  look.status.start_time = kNow - 2min;
  EXPECT_EQ(DeadlineLeft(look.spec(), look.status, kNow), 0s);
  look.document["spec"]["suspend"] = true;
  EXPECT_EQ(DeadlineLeft(look.spec(), look.status, kNow), std::nullopt);
  EXPECT_EQ(look.End(), "none");
}

TEST(JobEnd, CompletionNeedsAllActivePodsToBeGone) {
  Look look{.document = Spec({{"completions", 2}})};
  EXPECT_FALSE(IsComplete(look.spec(), 1, 0));
  EXPECT_FALSE(IsComplete(look.spec(), 2, 1));
  EXPECT_TRUE(IsComplete(look.spec(), 2, 0));
  Look queue{.document = Spec({})};
  EXPECT_FALSE(IsComplete(queue.spec(), 0, 0)) << "a work queue needs one success";
  EXPECT_TRUE(IsComplete(queue.spec(), 1, 0));
}

// KEP-3939, unit e and f: terminating pods are counted whether or not they are taken for failed.
TEST(Tally, TerminatingPodsAreCountedUnderEitherPolicy) {
  struct Case {
    const char* policy;
    const char* gates;
    int failed;
    bool told;
  };
  for (const Case& each : {Case{"Failed", "", 0, true}, Case{"TerminatingOrFailed", "", 1, true},
                           Case{"Failed", "JobPodReplacementPolicy=false", 1, false}}) {
    Look look{.document = Spec({{"podReplacementPolicy", each.policy}}),
              .gates = *api::FeatureGates().With(each.gates)};
    look.pods = {Pod("a").Phase("Running").Deleting()};
    Tally tally = look.Take();
    EXPECT_EQ(tally.counts.terminating(), 1) << each.policy << each.gates;
    EXPECT_EQ(tally.failed, each.failed) << each.policy << each.gates;
    EXPECT_EQ(look.spec().rules.reports_terminating, each.told) << each.policy << each.gates;
  }
}

}  // namespace
}  // namespace terrarium::controllers::job
