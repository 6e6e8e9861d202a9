#include "testbed/invariants/job_pods.h"

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

RuleStage Stage(JobGates gates) {
  return RuleStage([gates](Report report) { return MakeJobPods(gates, std::move(report)); });
}

JobFacts IndexedJob(bool replaces_only_failed) {
  JobFacts job = JobNamed("j");
  job.indexed = true;
  job.replaces_only_failed = replaces_only_failed;
  return job;
}

PodFacts Live(const std::string& name, std::int64_t index) { return JobPod(LivePod(name, "j"), index); }
PodFacts Terminating(const std::string& name, std::int64_t index) {
  return JobPod(TerminatingPod(name, "j"), index);
}
PodFacts Ended(const std::string& name, std::int64_t index) { return JobPod(EndedPod(name, "j"), index); }

TEST(JobPods, ASecondLivePodOfAnIndexIsReported) {
  for (bool waits : {false, true}) {
    RuleStage stage = Stage({});
    stage.Put(IndexedJob(waits));
    stage.Put(Live("a", 0));
    stage.Put(Live("b", 1));
    EXPECT_THAT(stage.Take(), IsEmpty());
    stage.Put(Live("c", 0));
    EXPECT_THAT(stage.Take(),
                ElementsAre(AllOf(HasSubstr("at revision 104 jobs default/j creates pod c for index 0"),
                                  HasSubstr("whose pod a runs"))));
    EXPECT_EQ(stage.violations().front().rule, "job-pods");
    EXPECT_EQ(stage.violations().front().objects.front(), (ObjectRef{"jobs", {"default", "j"}}));
  }
}

TEST(JobPods, ATerminatingPodHoldsItsIndexUnderPolicyFailed) {
  JobFacts by_failure_policy = IndexedJob(false);
  by_failure_policy.has_failure_policy = true;
  struct Case {
    const char* name;
    JobFacts job;
    JobGates gates;
    bool holds;
  };
  const Case cases[] = {{"policy Failed", IndexedJob(true), {}, true},
                        {"policy Failed, gate off", IndexedJob(true), {.replacement_policy = false}, false},
                        {"policy TerminatingOrFailed", IndexedJob(false), {}, false},
                        {"a podFailurePolicy", by_failure_policy, {.replacement_policy = false}, true}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RuleStage stage = Stage(c.gates);
    stage.Put(c.job);
    stage.Put(Live("a", 0));
    stage.Put(Terminating("a", 0));
    stage.Put(Live("b", 0));
    EXPECT_THAT(stage.Take(), SizeIs(c.holds ? 1 : 0));
  }
}

TEST(JobPods, AnIndexRunsAgainWhenItsPodHasEndedOrGone) {
  RuleStage stage = Stage({});
  stage.Put(IndexedJob(true));
  stage.Put(Live("a", 0));
  stage.Put(Ended("a", 0));
  stage.Put(Live("b", 0));
  stage.RemovePod("b");
  stage.Put(Live("c", 0));
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST(JobPods, PodsOfOthersAdoptedOrNotSelectedHoldNoIndex) {
  RuleStage stage = Stage({});
  stage.Put(IndexedJob(true));
  stage.Adopt(Live("adopted", 0));
  PodFacts relabelled = Live("relabelled", 0);
  stage.writer = "";
  stage.Put(Live("by-hand", 0));
  stage.writer = kControllerManager;
  stage.RemovePod("by-hand");
  stage.Put(Live("relabelled", 1));
  relabelled.header = HeaderNamed("relabelled", "other");
  relabelled.index = 1;
  stage.Put(relabelled);
  stage.Put(Live("relabelled", 1));
  stage.Put(Live("a", 1));
  stage.Put(JobPod(LivePod("b", "another"), 1));
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST(JobPods, AStricterPolicyCountsOnceTheClusterHasBeenIdle) {
  RuleStage stage = Stage({});
  stage.Put(IndexedJob(false));
  stage.Put(Live("a", 0));
  stage.Put(Terminating("a", 0));
  stage.writer = "";
  stage.Put(IndexedJob(true));
  stage.writer = kControllerManager;
  stage.Put(Live("b", 0));
  EXPECT_THAT(stage.Take(), IsEmpty()) << "it may not have been seen";
  stage.Idle();
  stage.Put(Terminating("b", 0));
  stage.Put(Live("c", 0));
  EXPECT_THAT(stage.Take(), SizeIs(1));
}

TEST(JobPods, AJobThatIsOverHasNoPodsLeft) {
  struct Case {
    JobGates gates;
    PodFacts pod;
    bool allowed;
  };
  const JobGates off{.replacement_policy = false, .managed_by = false};
  const Case cases[] = {{{}, JobPod(LivePod("a", "j")), false},
                        {{}, JobPod(TerminatingPod("a", "j")), false},
                        {{}, JobPod(EndedPod("a", "j")), true},
                        {off, JobPod(LivePod("a", "j")), false},
                        {off, JobPod(TerminatingPod("a", "j")), true}};
  for (const Case& c : cases) {
    RuleStage stage = Stage(c.gates);
    JobFacts job = JobNamed("j");
    stage.Put(job);
    stage.Put(JobPod(LivePod("a", "j")));
    stage.Put(c.pod);
    job.finished = true;
    stage.Put(job);
    EXPECT_THAT(stage.Take(), SizeIs(c.allowed ? 0 : 1)) << c.pod.live << c.pod.terminating;
  }
}

TEST(JobPods, NoPodIsCreatedForAJobThatTheControllerHasFinished) {
  RuleStage stage = Stage({});
  JobFacts job = JobNamed("j");
  stage.Put(job);
  job.finished = true;
  stage.writer = "";
  stage.Put(job);
  stage.writer = kControllerManager;
  stage.Put(JobPod(LivePod("a", "j")));
  EXPECT_THAT(stage.Take(), IsEmpty()) << "written by another client";
  stage.RemoveJob("j");
  stage.RemovePod("a");
  job.finished = false;
  stage.Put(job);
  job.finished = true;
  stage.Put(job);
  stage.Put(JobPod(LivePod("a", "j")));
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("creates pod a though it is over")));
}

}  // namespace
}  // namespace terrarium::testbed::invariants
