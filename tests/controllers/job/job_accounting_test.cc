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

struct Look {
  Json document;
  JobStatus status = {};
  std::vector<JobPodPtr> pods = {};
  UidSet removals = {};
  std::optional<Condition> end = {};
  bool deleting = false;
  Tally tally = {};
  Accounting accounting = {};

  void Take() {
    const JobSpec spec = ReadJobSpec(document, {});
    Carried carried;
    tally = TallyOf(spec, status, pods, removals, carried);
    accounting = Account(spec, tally, end, deleting, status);
  }
  Strings Off() const {
    Strings out;
    for (const PodFacts* pod : accounting.finalizers_off) out.push_back(pod->name);
    return out;
  }
};

TEST(Accounting, FinishedPodsAreWrittenDownAndRunningOnesAreNot) {
  Look look{.document = Spec({{"completions", 9}})};
  look.pods = {Pod("a").Phase("Succeeded"), Pod("b").Phase("Failed"), Pod("c").Phase("Running"),
               Pod("d").Phase("Succeeded").WithoutFinalizer()};
  look.Take();
  EXPECT_EQ(look.status.uncounted_succeeded, Strings{"a"});
  EXPECT_EQ(look.status.uncounted_failed, Strings{"b"});
  EXPECT_EQ(look.Off(), (Strings{"a", "b"}));
  EXPECT_EQ(look.status.succeeded + look.status.failed, 0) << "not before the finalizers are off";
}

TEST(Accounting, UidsWhosePodsHaveNoFinalizerAnyMoreGoIntoTheCounters) {
  Look look{.document = Spec({{"completions", 9}})};
  look.status.uncounted_succeeded = {"freed", "gone", "held", "asked"};
  look.status.uncounted_failed = {"gone-too"};
  look.removals = {"asked"};
  look.pods = {Pod("freed").Phase("Succeeded").WithoutFinalizer(), Pod("held").Phase("Succeeded"),
               Pod("asked").Phase("Succeeded")};
  look.Take();
  EXPECT_EQ(look.status.uncounted_succeeded, Strings{"held"}) << "and is not written down twice";
  EXPECT_EQ(look.Off(), Strings{"held"});
  EXPECT_EQ(look.status.succeeded, 3);
  EXPECT_EQ(look.status.failed, 1);
}

TEST(Accounting, ATerminatingPodThatWasPutDownAsFailedStaysSoWhenItSucceeds) {
  Look look{.document = Spec({{"completions", 9}})};
  look.pods = {Pod("a").Phase("Running").Deleting()};
  look.Take();
  EXPECT_EQ(look.status.uncounted_failed, Strings{"a"});
  // Its finalizer would not come off, and meanwhile it ends.
  look.pods = {Pod("a").Phase("Succeeded").Deleting()};
  look.Take();
  EXPECT_EQ(look.status.uncounted_failed, Strings{"a"});
  EXPECT_EQ(look.status.uncounted_succeeded, Strings{});
  CountWithoutFinalizer({}, look.status);
  EXPECT_EQ(look.status.failed, 1);
  EXPECT_EQ(look.status.succeeded, 0);
}

TEST(Accounting, IgnoredFailuresLoseTheirFinalizerAndLeaveNoTrace) {
  Look look{.document = Spec({{"podFailurePolicy", FailurePolicy("Ignore", 3)}})};
  look.pods = {Pod("a").Phase("Failed").ExitCode(3), Pod("b").Phase("Failed").ExitCode(1)};
  look.Take();
  EXPECT_EQ(look.Off(), (Strings{"a", "b"}));
  EXPECT_EQ(look.status.uncounted_failed, Strings{"b"});
  EXPECT_EQ(look.accounting.by_policy, (std::map<FailureAction, int>{{FailureAction::kIgnore, 1}}));
}

TEST(Accounting, ThePodKeptForItsIndexKeepsItsFinalizer) {
  Look look{.document =
                Spec({{"completions", 2}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 5}})};
  look.pods = {Pod("old").Phase("Failed").Index(0), Pod("new").Phase("Failed").Index(0).Failures(1)};
  look.Take();
  EXPECT_EQ(look.Off(), Strings{"old"});
  EXPECT_EQ(look.status.failed_indexes, "");
  look.pods.push_back(Pod("next").Phase("Running").Index(0).Failures(2));
  look.Take();
  EXPECT_EQ(look.Off(), (Strings{"new", "old"}));
}

TEST(Accounting, AJobThatFailsCountsAllItsPodsAndOneThatSucceedsLetsThemGo) {
  Look look{.document = Spec({{"completions", 9}})};
  look.pods = {Pod("a").Phase("Running"), Pod("b").Phase("Succeeded")};
  Look failing = look, succeeding = look, going = look;
  failing.end = Condition{std::string(kFailureTarget), "DeadlineExceeded", ""};
  failing.Take();
  EXPECT_EQ(failing.status.uncounted_failed, Strings{"a"});
  EXPECT_EQ(failing.status.uncounted_succeeded, Strings{"b"});
  succeeding.end = Condition{std::string(kSuccessCriteriaMet), "SuccessPolicy", ""};
  succeeding.Take();
  EXPECT_EQ(succeeding.status.uncounted_failed, Strings{});
  EXPECT_EQ(succeeding.Off(), (Strings{"a", "b"}));
  going.deleting = true;
  going.Take();
  EXPECT_EQ(going.Off(), (Strings{"a", "b"}));
  EXPECT_EQ(going.status.uncounted_failed, Strings{})
      << "nobody will ask for the counters of a Job that goes";
}

TEST(Accounting, NoMoreThanFiveHundredAreWrittenDownAtATime) {
  for (bool indexed : {false, true}) {
    Json spec = {{"completions", 2000}};
    if (indexed) spec["completionMode"] = "Indexed";
    Look look{.document = Spec(spec)};
    for (int i = 0; i < 620; ++i)
      look.pods.push_back(Pod("p" + std::to_string(i)).Phase("Succeeded").Index(i));
    look.Take();
    EXPECT_EQ(look.accounting.finalizers_off.size(), 500u);
    EXPECT_TRUE(look.accounting.full);
    EXPECT_EQ(look.status.uncounted_succeeded.size(), indexed ? 0u : 500u);
    look.pods.resize(400);
    look.status = {};
    look.Take();
    EXPECT_FALSE(look.accounting.full);
  }
}

TEST(Accounting, AnElasticJobThatShrinksForgetsIndexesBeyondItsEnd) {
  Look look{.document = Spec({{"completions", 2}, {"completionMode", "Indexed"}})};
  look.status.completed_indexes = "0,3";
  look.status.succeeded = 2;
  look.pods = {Pod("a").Phase("Succeeded").Index(4), Pod("b").Phase("Failed").Index(5)};
  look.Take();
  EXPECT_EQ(look.status.completed_indexes, "0");
  EXPECT_EQ(look.status.succeeded, 1);
  EXPECT_EQ(look.status.uncounted_failed, Strings{});
  EXPECT_EQ(look.Off(), (Strings{"a", "b"})) << "they go without being counted";
}

}  // namespace
}  // namespace terrarium::controllers::job
