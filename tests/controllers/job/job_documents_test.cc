// Reading and writing the documents of Jobs and their pods.

#include <gtest/gtest.h>

#include "controllers/job/internal/job_spec.h"
#include "controllers/job/internal/job_states.h"
#include "controllers/job/internal/job_status.h"
#include "controllers/job/internal/pod_template.h"
#include "tests/controllers/job/job_testing.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectName;
using controllers_testing::MakeObject;
using testing::Json;
using testing::kNow;
using testing::Pod;
using testing::Spec;

TEST(JobStatus, IsWrittenAsItWasReadAndWithoutZeros) {
  const Json status = Json::parse(R"({"active": 1, "ready": 0, "terminating": 2, "succeeded": 3, "failed": 4,
      "completedIndexes": "0-2", "failedIndexes": "", "startTime": "2026-01-01T00:00:00Z",
      "uncountedTerminatedPods": {"failed": ["a", "b"]},
      "conditions": [{"type": "Suspended", "status": "False", "reason": "JobResumed"}]})");
  const JobStatus read = ReadJobStatus({{"status", status}});
  EXPECT_EQ(WithStatus(status, read), status);
  EXPECT_EQ(WithStatus(Json(), JobStatus{}), Json::parse(R"({"uncountedTerminatedPods": {}})"));
  EXPECT_EQ(WithStatus({{"foreign", 1}, {"active", 7}}, JobStatus{}),
            Json::parse(R"({"foreign": 1, "uncountedTerminatedPods": {}})"));
}

TEST(JobStatus, AConditionIsAddedWhenTrueAndChangedInPlace) {
  JobStatus status;
  const Condition resumed{"Suspended", "JobResumed", "Job resumed"};
  EXPECT_FALSE(EnsureCondition(status, resumed, false, kNow)) << "absent and False are equal";
  EXPECT_TRUE(EnsureCondition(status, {"Suspended", "JobSuspended", "Job suspended"}, true, kNow));
  EXPECT_FALSE(EnsureCondition(status, {"Suspended", "JobSuspended", "Job suspended"}, true, kNow + 1h));
  EXPECT_EQ(status.conditions[0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
  EXPECT_TRUE(EnsureCondition(status, resumed, false, kNow + 1h));
  ASSERT_EQ(status.conditions.size(), 1u);
  EXPECT_EQ(status.conditions[0],
            Json::parse(
                R"({"type": "Suspended", "status": "False", "reason": "JobResumed", "message": "Job resumed",
                "lastProbeTime": "2026-01-01T01:00:00Z", "lastTransitionTime": "2026-01-01T01:00:00Z"})"));
  EXPECT_FALSE(TrueCondition(status, kSuspended));
  EXPECT_FALSE(IsFinished(status));
  AppendTrue(status, {"Failed", "r", "m"}, kNow);
  EXPECT_TRUE(IsFinished(status));
  EXPECT_TRUE(IsFinished(Json{{"status", {{"conditions", status.conditions}}}}));
}

TEST(JobSpec, ReadsWhatTheGatesAllow) {
  const Json job = Spec({{"completions", 3},
                         {"backoffLimitPerIndex", 1},
                         {"completionMode", "Indexed"},
                         {"activeDeadlineSeconds", 60},
                         {"successPolicy", {{"rules", Json::array()}}},
                         {"managedBy", "example.com/x"}});
  JobSpec spec = ReadJobSpec(job, {});
  EXPECT_EQ(spec.backoff_limit_per_index, 1);
  EXPECT_EQ(spec.active_deadline, 60s);
  EXPECT_NE(spec.success_policy, nullptr);
  EXPECT_EQ(ForeignManager(job, {}), "example.com/x");
  api::FeatureGates off =
      *api::FeatureGates().With("JobBackoffLimitPerIndex=false,JobSuccessPolicy=false,JobManagedBy=false");
  spec = ReadJobSpec(job, off);
  EXPECT_EQ(spec.backoff_limit_per_index, std::nullopt);
  EXPECT_EQ(spec.success_policy, nullptr);
  EXPECT_EQ(ForeignManager(job, off), "");
}

Json JobWithTemplate() {
  return Spec({{"template",
                {{"metadata",
                  {{"labels", {{"app", "x"}}},
                   {"annotations", {{"note", "y"}}},
                   {"finalizers", {"example.com/own"}}}},
                 {"spec", {{"containers", {{{"name", "c"}}}}, {"restartPolicy", "Never"}}}}}});
}

TEST(JobPodTemplate, MakesPodsThatTheJobTracks) {
  const Json document = JobWithTemplate();
  EXPECT_EQ(PodOf(*MakeObject(document), document, false), Json::parse(R"({
      "metadata": {"generateName": "j-", "labels": {"app": "x"}, "annotations": {"note": "y"},
        "finalizers": ["example.com/own", "batch.kubernetes.io/job-tracking"],
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "job-uid",
                             "controller": true, "blockOwnerDeletion": true}]},
      "spec": {"containers": [{"name": "c"}], "restartPolicy": "Never"}})"));
}

TEST(JobPodTemplate, APodOfAnIndexIsMarkedAsSuch) {
  const Json document = JobWithTemplate();
  const api::ObjectPtr job = MakeObject(document);
  const Json common = PodOf(*job, document, true);
  EXPECT_EQ(common["spec"]["containers"][0]["env"][0]["name"], "JOB_COMPLETION_INDEX");
  const Json pod = IndexedPodOf(common, *job, 7, IndexFailures{.failures = 2, .ignored = 1});
  EXPECT_EQ(pod["metadata"]["generateName"], "j-7-");
  EXPECT_EQ(pod["spec"]["hostname"], "j-7");
  EXPECT_EQ(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"], "7");
  EXPECT_EQ(pod["metadata"]["annotations"], Json::parse(R"({"note": "y",
      "batch.kubernetes.io/job-completion-index": "7", "batch.kubernetes.io/job-index-failure-count": "2",
      "batch.kubernetes.io/job-index-ignored-failure-count": "1"})"));
  EXPECT_FALSE(IndexedPodOf(common, *job, 7, std::nullopt)["metadata"]["annotations"].contains(
      "batch.kubernetes.io/job-index-failure-count"));
}

Json Selecting() { return Spec({{"selector", {{"matchLabels", {{"job-name", "j"}}}}}}); }

TEST(JobStates, HoldOnlyPodsThatStillMatter) {
  JobStates states;
  JobStates::StatePtr state = states.SetJob(MakeObject(Selecting()), false);
  const ObjectName job{"default", "j"};
  EXPECT_TRUE(states.PutPod("job-uid", job, Pod("a").Phase("Running")).matters);
  EXPECT_TRUE(states.PutPod("job-uid", job, Pod("a").Phase("Succeeded")).matters) << "not counted yet";
  EXPECT_EQ(state->pods.size(), 1u);
  EXPECT_TRUE(states.PutPod("job-uid", job, Pod("a").Phase("Succeeded").WithoutFinalizer()).matters);
  EXPECT_EQ(state->pods.size(), 0u);
  EXPECT_FALSE(states.PutPod("job-uid", job, Pod("a").Phase("Succeeded").WithoutFinalizer()).matters);
  // A pod that the Job does not select is to be released, even if it has finished.
  EXPECT_TRUE(
      states.PutPod("job-uid", job, Pod("a").Phase("Succeeded").WithoutFinalizer().Labels(Json::object()))
          .matters);
  EXPECT_EQ(states.OwnerOf({"default", "a"}), state);
}

TEST(JobStates, PodsMayBeSeenBeforeTheirJobAndAfterIt) {
  JobStates states;
  const ObjectName job{"default", "j"};
  JobStates::StatePtr state = states.PutPod("job-uid", job, Pod("a")).state;
  EXPECT_FALSE(state->Runs());
  EXPECT_EQ(states.SetJob(MakeObject(Selecting()), false), state);
  EXPECT_TRUE(state->Runs());
  states.RemoveJob(*MakeObject(Selecting()));
  EXPECT_EQ(states.Find("job-uid"), state) << "its pod is still there";
  states.RemovePod({"default", "a"});
  EXPECT_EQ(states.Find("job-uid"), nullptr);
  EXPECT_EQ(states.OwnerOf({"default", "a"}), nullptr);
}

TEST(JobStates, APodThatChangesHandsLeavesItsFormerJob) {
  JobStates states;
  JobStates::StatePtr first = states.PutPod("u1", {"default", "j1"}, Pod("a")).state;
  JobStates::StatePtr second = states.PutPod("u2", {"default", "j2"}, Pod("a")).state;
  EXPECT_TRUE(first->pods.empty());
  EXPECT_EQ(states.OwnerOf({"default", "a"}), second);
  EXPECT_EQ(states.Find("u1"), nullptr);
}

}  // namespace
}  // namespace terrarium::controllers::job
