#include "controllers/job/internal/pod_counts.h"

#include <gtest/gtest.h>

#include "tests/controllers/job/rules_testing.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;
using testing::Deleting;
using testing::OfIndex;
using testing::Pod;

CountingRules RulesOf(const Json& spec, const char* gates = "") {
  return CountingRulesOf(spec, *api::FeatureGates().With(gates));
}

const Json kFailedPolicy = {{"podReplacementPolicy", "Failed"}};
const Json kTerminatingOrFailed = {{"podReplacementPolicy", "TerminatingOrFailed"}};
const Json kFailurePolicy = {{"podFailurePolicy", {{"rules", Json::array()}}}};
constexpr const char* kGateOff = "JobPodReplacementPolicy=false";

TEST(CountingRules, PodsAreReplacedOnlyWhenFailedByPolicyOrForTheFailurePolicy) {
  EXPECT_TRUE(RulesOf(kFailedPolicy).only_replace_failed);
  EXPECT_FALSE(RulesOf(kTerminatingOrFailed).only_replace_failed);
  EXPECT_FALSE(RulesOf(Json::object()).only_replace_failed);
  EXPECT_TRUE(RulesOf(kFailurePolicy).only_replace_failed);
  EXPECT_FALSE(RulesOf(kFailedPolicy, kGateOff).only_replace_failed);
  EXPECT_TRUE(RulesOf(kFailurePolicy, kGateOff).only_replace_failed);
}

TEST(CountingRules, GatesDecideWhetherTerminatingPodsAreWaitedForAndReported) {
  struct Case {
    const char* gates;
    Json spec;
    bool reports, delays;
  };
  for (const Case& c :
       {Case{"", Json::object(), true, true},
        Case{"JobPodReplacementPolicy=false", Json::object(), false, true},
        Case{"JobManagedBy=false", Json::object(), true, true},
        Case{"JobPodReplacementPolicy=false,JobManagedBy=false", Json::object(), false, false},
        Case{"JobPodReplacementPolicy=false,JobManagedBy=false", kFailurePolicy, false, false}}) {
    CountingRules rules = RulesOf(c.spec, c.gates);
    EXPECT_EQ(rules.reports_terminating, c.reports) << c.gates << c.spec;
    EXPECT_EQ(rules.delays_terminal_condition, c.delays) << c.gates << c.spec;
  }
}

TEST(CountingRules, OnlyIndexedJobsHaveAnEndOfIndexes) {
  EXPECT_EQ(RulesOf({{"completionMode", "Indexed"}, {"completions", 7}}).index_end, 7);
  EXPECT_EQ(RulesOf({{"completionMode", "NonIndexed"}, {"completions", 7}}).index_end, std::nullopt);
  EXPECT_EQ(RulesOf({{"completions", 7}}).index_end, std::nullopt);
}

TEST(IsPodFailed, ByItsPhaseOrAsSoonAsItIsDeletedUnlessItSucceeded) {
  const CountingRules immediate = RulesOf(kTerminatingOrFailed);
  const CountingRules waits = RulesOf(kFailedPolicy);
  for (Phase phase : {Phase::kPending, Phase::kRunning, Phase::kUnknown}) {
    EXPECT_FALSE(IsPodFailed(Pod("a", phase), immediate));
    EXPECT_TRUE(IsPodFailed(Deleting(Pod("a", phase)), immediate));
    EXPECT_FALSE(IsPodFailed(Deleting(Pod("a", phase)), waits));
  }
  for (const CountingRules& rules : {immediate, waits}) {
    EXPECT_TRUE(IsPodFailed(Pod("a", Phase::kFailed), rules));
    EXPECT_TRUE(IsPodFailed(Deleting(Pod("a", Phase::kFailed)), rules));
    EXPECT_FALSE(IsPodFailed(Pod("a", Phase::kSucceeded), rules));
    EXPECT_FALSE(IsPodFailed(Deleting(Pod("a", Phase::kSucceeded)), rules));
  }
}

TEST(NewlyFinished, AreEndedPodsThatAreNotCountedYet) {
  const CountingRules rules = RulesOf(kTerminatingOrFailed);
  Uncounted uncounted;
  EXPECT_EQ(NewlyFinished(Pod("a", Phase::kRunning), rules, uncounted), Finish::kNone);
  EXPECT_EQ(NewlyFinished(Pod("a", Phase::kSucceeded), rules, uncounted), Finish::kSucceeded);
  EXPECT_EQ(NewlyFinished(Pod("a", Phase::kFailed), rules, uncounted), Finish::kFailed);
  EXPECT_EQ(NewlyFinished(Deleting(Pod("a", Phase::kRunning)), rules, uncounted), Finish::kFailed);

  PodFacts counted = Pod("a", Phase::kFailed);
  counted.has_finalizer = false;
  EXPECT_EQ(NewlyFinished(counted, rules, uncounted), Finish::kNone);
  uncounted = {.succeeded = {"s"}, .failed = {"f"}, .finalizer_removals = {"r"}};
  EXPECT_EQ(NewlyFinished(Pod("s", Phase::kSucceeded), rules, uncounted), Finish::kNone);
  EXPECT_EQ(NewlyFinished(Pod("f", Phase::kFailed), rules, uncounted), Finish::kNone);
  EXPECT_EQ(NewlyFinished(Pod("r", Phase::kFailed), rules, uncounted), Finish::kNone);
  EXPECT_EQ(NewlyFinished(Pod("a", Phase::kFailed), rules, uncounted), Finish::kFailed);
}

TEST(NewlyFinished, APodCountedAsFailedWhileTerminatingIsNotCountedAgainWhenItSucceeds) {
  const Uncounted uncounted{.succeeded = {}, .failed = {"a"}, .finalizer_removals = {}};
  EXPECT_EQ(NewlyFinished(Deleting(Pod("a", Phase::kSucceeded)), RulesOf(kTerminatingOrFailed), uncounted),
            Finish::kNone);
}

TEST(NewlyFinished, OfAnIndexedJobOnlyPodsOfItsIndexes) {
  const CountingRules rules = RulesOf({{"completionMode", "Indexed"}, {"completions", 2}});
  EXPECT_EQ(NewlyFinished(OfIndex(1, Pod("a", Phase::kFailed)), rules, {}), Finish::kFailed);
  EXPECT_EQ(NewlyFinished(OfIndex(2, Pod("a", Phase::kFailed)), rules, {}), Finish::kNone);
  EXPECT_EQ(NewlyFinished(Pod("a", Phase::kSucceeded), rules, {}), Finish::kNone);
}

TEST(PodCounts, FollowEveryVersionOfAPod) {
  PodCounts counts;
  PodFacts pod = Pod("a", Phase::kPending);
  counts.Add(pod);
  EXPECT_EQ(counts.active(), 1);
  EXPECT_EQ(counts.ready(), 0);
  PodFacts ready = Pod("a", Phase::kRunning);
  ready.ready = true;
  ready.restarts = 3;
  counts.Remove(pod);
  counts.Add(ready);
  EXPECT_EQ(counts.active(), 1);
  EXPECT_EQ(counts.ready(), 1);
  EXPECT_EQ(counts.restarts(), 3);
  PodFacts deleting = Deleting(ready);
  counts.Remove(ready);
  counts.Add(deleting);
  EXPECT_EQ(counts.active(), 0);
  EXPECT_EQ(counts.ready(), 0);
  EXPECT_EQ(counts.terminating(), 1);
  EXPECT_EQ(counts.restarts(), 3);
  PodFacts failed = deleting;
  failed.phase = Phase::kFailed;
  counts.Remove(deleting);
  counts.Add(failed);
  EXPECT_EQ(counts.terminating(), 0);
  EXPECT_EQ(counts.restarts(), 0);
}

TEST(PastBackoffLimitByRestarts, WithALimitOfZeroTheFirstRestartIsTooMuch) {
  EXPECT_FALSE(PastBackoffLimitByRestarts(0, 0));
  EXPECT_TRUE(PastBackoffLimitByRestarts(1, 0));
  EXPECT_FALSE(PastBackoffLimitByRestarts(2, 3));
  EXPECT_TRUE(PastBackoffLimitByRestarts(3, 3));
}

TEST(WantedActive, IsWhatIsLeftToCompleteUpToTheParallelism) {
  EXPECT_EQ(
      WantedActive({.completions = 10, .parallelism = 3, .succeeded = 0, .active = 0, .terminating = 0}), 3);
  EXPECT_EQ(
      WantedActive({.completions = 10, .parallelism = 3, .succeeded = 8, .active = 3, .terminating = 0}), 2);
  EXPECT_EQ(
      WantedActive({.completions = 10, .parallelism = 3, .succeeded = 12, .active = 1, .terminating = 0}), 0);
}

TEST(WantedActive, OfAWorkQueueIsWhatRunsOnceAPodHasSucceeded) {
  Demand demand{.completions = {}, .parallelism = 3, .succeeded = 0, .active = 1, .terminating = 0};
  EXPECT_EQ(WantedActive(demand), 3);
  EXPECT_EQ(PodsMissing(demand, {}), 2);
  demand.succeeded = 1;
  EXPECT_EQ(WantedActive(demand), 1);
  EXPECT_EQ(PodsMissing(demand, {}), 0);
  EXPECT_EQ(PodsTooMany(demand), 0);
}

TEST(PodsTooMany, AreActiveOnesAboveWhatIsWanted) {
  EXPECT_EQ(PodsTooMany({.completions = 10, .parallelism = 2, .succeeded = 0, .active = 5, .terminating = 4}),
            3);
  EXPECT_EQ(PodsTooMany({.completions = 10, .parallelism = 2, .succeeded = 9, .active = 2, .terminating = 0}),
            1);
  EXPECT_EQ(PodsTooMany({.completions = 10, .parallelism = 5, .succeeded = 0, .active = 2, .terminating = 0}),
            0);
}

// Two of three pods are being deleted: one still runs, the other has failed.
struct Deleted {
  PodCounts counts;
  int newly_failed = 0;
  int missing = 0;
};
Deleted AfterTwoDeletions(const CountingRules& rules) {
  Deleted out;
  for (const PodFacts& pod :
       {Pod("a", Phase::kRunning), Deleting(Pod("b", Phase::kRunning)), Deleting(Pod("c", Phase::kFailed))}) {
    out.counts.Add(pod);
    if (NewlyFinished(pod, rules, {}) == Finish::kFailed) ++out.newly_failed;
  }
  out.missing = PodsMissing({.completions = 3,
                             .parallelism = 3,
                             .succeeded = 0,
                             .active = out.counts.active(),
                             .terminating = out.counts.terminating()},
                            rules);
  return out;
}

// KEP-3939, unit a: terminating pods are counted. f: also when they are not considered failed.
// KEP-3939, unit b: pods are recreated only once they are fully terminated.
TEST(PodReplacementPolicy, FailedCountsTerminatingPodsAndReplacesOnlyWhatHasFailed) {
  const CountingRules rules = RulesOf(kFailedPolicy);
  Deleted deleted = AfterTwoDeletions(rules);
  EXPECT_EQ(deleted.counts.active(), 1);
  EXPECT_EQ(deleted.counts.terminating(), 1);
  EXPECT_TRUE(rules.reports_terminating);
  EXPECT_EQ(deleted.newly_failed, 1);
  EXPECT_EQ(deleted.missing, 1);
}

// KEP-3939, unit c: existing behaviour with TerminatingOrFailed, with terminating pods counted nevertheless.
TEST(PodReplacementPolicy, TerminatingOrFailedReplacesTerminatingPodsImmediatelyAndCountsThem) {
  const CountingRules rules = RulesOf(kTerminatingOrFailed);
  Deleted deleted = AfterTwoDeletions(rules);
  EXPECT_EQ(deleted.counts.terminating(), 1);
  EXPECT_TRUE(rules.reports_terminating);
  EXPECT_EQ(deleted.newly_failed, 2);
  EXPECT_EQ(deleted.missing, 2);
}

// KEP-3939, unit d: existing behaviour with the gate off. e: terminating pods are still counted, since the
// end of the Job waits for them, but the status does not report them.
TEST(PodReplacementPolicy, WithTheGateOffEveryJobIsTerminatingOrFailedAndDoesNotReport) {
  for (const Json& spec : {kFailedPolicy, kTerminatingOrFailed, Json::object()}) {
    const CountingRules rules = RulesOf(spec, kGateOff);
    Deleted deleted = AfterTwoDeletions(rules);
    EXPECT_EQ(deleted.counts.terminating(), 1);
    EXPECT_TRUE(rules.delays_terminal_condition);
    EXPECT_FALSE(rules.reports_terminating);
    EXPECT_EQ(deleted.newly_failed, 2);
    EXPECT_EQ(deleted.missing, 2);
  }
}

}  // namespace
}  // namespace terrarium::controllers::job
