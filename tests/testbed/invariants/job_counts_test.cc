#include "testbed/invariants/job_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testbed/invariants/rule_stage.h"

namespace terrarium::testbed::invariants {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A Job "j" without pods.
class JobCountsTest : public testing::Test {
 protected:
  explicit JobCountsTest(JobGates gates = {})
      : stage([gates](Report report) { return MakeJobCounts(gates, std::move(report)); }) {
    stage.Put(job);
  }

  // The controller writes a status.
  std::vector<std::string> Write(JobCounts status) {
    job.status = status;
    stage.Put(job);
    return stage.Take();
  }
  std::vector<std::string> Idle() {
    stage.Idle();
    return stage.Take();
  }
  void Succeed(const std::string& name, std::int64_t index = -1) {
    stage.Put(JobPod(LivePod(name, "j"), index));
    stage.Put(JobPod(SucceededPod(name, "j"), index));
  }

  RuleStage stage;
  JobFacts job = JobNamed("j");
};

TEST_F(JobCountsTest, WhatHasEndedMayBeCountedOnce) {
  Succeed("a");
  stage.Put(JobPod(LivePod("b", "j")));
  stage.Put(JobPod(EndedPod("b", "j")));
  EXPECT_THAT(Write({.terminating = 0, .uncounted_succeeded = 1, .uncounted_failed = 1}), IsEmpty());
  EXPECT_THAT(Write({.terminating = 0, .succeeded = 1, .failed = 1}), IsEmpty());
  EXPECT_THAT(Write({.terminating = 0, .succeeded = 1, .failed = 1, .uncounted_failed = 1}),
              ElementsAre(AllOf(HasSubstr("the status of jobs default/j reports"),
                                HasSubstr("succeeded 1 + 0, failed 1 + 1"),
                                HasSubstr("only 2 of its pods have ended"))));
  EXPECT_EQ(stage.violations().front().rule, "job-counts");
}

TEST_F(JobCountsTest, NoMoreSucceedThanHaveSucceeded) {
  stage.Put(JobPod(LivePod("a", "j")));
  stage.Put(JobPod(EndedPod("a", "j")));
  EXPECT_THAT(Write({.terminating = 0, .succeeded = 1}),
              ElementsAre(HasSubstr("only 0 of its pods have succeeded")));
}

TEST_F(JobCountsTest, OfAnIndexedJobIndexesSucceedNotPods) {
  job.indexed = true;
  stage.Put(job);
  Succeed("a", 3);
  Succeed("b", 3);
  EXPECT_THAT(Write({.terminating = 0, .succeeded = 1}), IsEmpty());
  EXPECT_THAT(Write({.terminating = 0, .succeeded = 2}), ElementsAre(HasSubstr("only 1 of its indexes")));
}

TEST_F(JobCountsTest, ADeletedPodMayCountAsFailedAndThenNotAsSucceeded) {
  stage.Put(JobPod(LivePod("a", "j")));
  stage.Put(JobPod(TerminatingPod("a", "j")));
  EXPECT_THAT(Write({.terminating = 1, .failed = 1}), IsEmpty());
  stage.Put(JobPod(SucceededPod("a", "j")));
  EXPECT_THAT(Write({.terminating = 0, .succeeded = 1, .failed = 1}), SizeIs(1));
}

TEST_F(JobCountsTest, ADeletedPodOfUnknownOutcomeMayCount) {
  stage.Put(JobPod(LivePod("a", "j")));
  stage.RemovePod("a");
  EXPECT_THAT(Write({.terminating = 0, .failed = 1}), IsEmpty());
}

TEST_F(JobCountsTest, AnExistingJobBeginsWithItsStatus) {
  JobFacts old = JobNamed("old");
  old.status.succeeded = 5;
  stage.Put(old);
  old.status.active = 1;
  stage.Put(old);
  EXPECT_THAT(stage.Take(), IsEmpty());
  old.status.succeeded = 6;
  stage.Put(old);
  EXPECT_THAT(stage.Take(), SizeIs(1));
}

TEST_F(JobCountsTest, AStatusWrittenByAnotherClientIsIgnored) {
  stage.writer = "";
  EXPECT_THAT(Write({.terminating = 0, .failed = 7}), IsEmpty());
  stage.writer = kControllerManager;
  EXPECT_THAT(Write({.terminating = 0, .failed = 8}), IsEmpty());
}

TEST_F(JobCountsTest, WhenIdleTheStatusIsARecount) {
  stage.Put(JobPod(LivePod("a", "j")));
  stage.Put(JobPod(ReadyPod("b", "j")));
  stage.Put(JobPod(TerminatingPod("c", "j")));
  stage.Put(JobPod(EndedPod("d", "j")));
  EXPECT_THAT(Write({.active = 2, .ready = 1, .terminating = 1}), IsEmpty());
  EXPECT_THAT(Idle(), IsEmpty());
  EXPECT_THAT(Write({.active = 3, .ready = 1, .terminating = 1}), IsEmpty()) << "views may be old";
  EXPECT_THAT(Idle(), ElementsAre(HasSubstr("at rest at active 2, ready 1, terminating 1")));
  EXPECT_THAT(Write({.active = 2, .ready = 1}), IsEmpty());
  EXPECT_THAT(Idle(), ElementsAre(HasSubstr("reports active 2, ready 1, terminating absent")));
  EXPECT_THAT(Write({.active = 2, .ready = 1, .terminating = 1, .uncounted_failed = 1}), IsEmpty());
  EXPECT_THAT(Idle(), ElementsAre(HasSubstr("has been counted")));
  EXPECT_THAT(Idle(), IsEmpty()) << "reported once";
}

TEST_F(JobCountsTest, WhenIdleAFinishedJobHasLeftNoFinalizer) {
  Succeed("a");
  job.finished = true;
  EXPECT_THAT(Write({.terminating = 0, .succeeded = 1}), IsEmpty());
  EXPECT_THAT(Idle(), ElementsAre(HasSubstr("though it is over 1 of its pods have their finalizer")));
  PodFacts freed = JobPod(SucceededPod("a", "j"));
  freed.tracked = false;
  stage.Put(freed);
  EXPECT_THAT(Idle(), IsEmpty());
}

TEST_F(JobCountsTest, WhenIdleJobsOfOtherControllersAndDeletedJobsAreIgnored) {
  job.managed_by = "example.com/other";
  stage.Put(job);
  stage.Put(JobPod(LivePod("a", "j")));
  EXPECT_THAT(Idle(), IsEmpty());
  job.managed_by = "kubernetes.io/job-controller";
  stage.Put(job);
  EXPECT_THAT(Idle(), SizeIs(1));
  stage.RemoveJob("j");
  stage.RemovePod("a");
  EXPECT_THAT(Idle(), IsEmpty());
}

class JobCountsWithoutTheGate : public JobCountsTest {
 protected:
  JobCountsWithoutTheGate() : JobCountsTest({.replacement_policy = false}) {}
};

TEST_F(JobCountsWithoutTheGate, WhenIdleTerminatingPodsAreNotReported) {
  stage.Put(JobPod(TerminatingPod("a", "j")));
  EXPECT_THAT(Write({.terminating = 1}), IsEmpty());
  EXPECT_THAT(Idle(), ElementsAre(HasSubstr("terminating absent")));
  EXPECT_THAT(Write({}), IsEmpty());
  EXPECT_THAT(Idle(), IsEmpty());
}

}  // namespace
}  // namespace terrarium::testbed::invariants
