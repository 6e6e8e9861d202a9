#include "testbed/invariants/facts.h"

#include <gtest/gtest.h>

#include "apiserver/header.h"

namespace terrarium::testbed::invariants {
namespace {

using api::Json;

api::ObjectPtr Stored(const std::string& resource, Json document) {
  document["metadata"]["name"] = "web";
  document["metadata"]["namespace"] = "default";
  document["metadata"]["uid"] = "u1";
  return api::Object::Make(apiserver::DeriveHeaderOfStored(resource, document), document);
}

Json Owner(const char* uid, bool controller = true) {
  return {{"apiVersion", "apps/v1"}, {"kind", "X"}, {"name", "x"}, {"uid", uid}, {"controller", controller}};
}

Json OwnedPod(const char* phase) {
  return {
      {"metadata", {{"labels", {{"app", "web"}}}, {"ownerReferences", {Owner("o1", false), Owner("o2")}}}},
      {"status", {{"phase", phase}}}};
}

TEST(Facts, APodIsReadWithItsController) {
  Json document = OwnedPod("Running");
  document["status"]["conditions"] = {
      {{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", "2026-01-01T00:00:05Z"}}};
  PodPtr pod = ReadPod(Stored("pods", document));
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(pod->header->uid, "u1");
  EXPECT_EQ(pod->owner, "o2");
  EXPECT_TRUE(pod->live);
  EXPECT_FALSE(pod->terminating);
  EXPECT_TRUE(pod->ready);
  EXPECT_EQ(api::FormatTime(pod->ready_since), "2026-01-01T00:00:05Z");
}

TEST(Facts, APodWithoutAControllerHasNoOwner) {
  EXPECT_EQ(ReadPod(Stored("pods", {{"status", {{"phase", "Running"}}}})), nullptr);
  EXPECT_EQ(ReadPod(Stored("pods", {{"metadata", {{"ownerReferences", {Owner("o1", false)}}}}})), nullptr);
}

TEST(Facts, ADeletedPodTerminatesUntilItHasEnded) {
  for (const char* phase : {"Pending", "Running", "Succeeded", "Failed"}) {
    Json document = OwnedPod(phase);
    bool ended = phase == std::string("Succeeded") || phase == std::string("Failed");
    EXPECT_EQ(ReadPod(Stored("pods", document))->live, !ended) << phase;
    EXPECT_FALSE(ReadPod(Stored("pods", document))->terminating) << phase;
    document["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:05Z";
    EXPECT_FALSE(ReadPod(Stored("pods", document))->live) << phase;
    EXPECT_EQ(ReadPod(Stored("pods", document))->terminating, !ended) << phase;
  }
}

TEST(Facts, APodOfAJobHasItsIndexItsFinalizerAndHowItEnded) {
  Json document = OwnedPod("Succeeded");
  document["metadata"]["annotations"] = {{"batch.kubernetes.io/job-completion-index", "7"}};
  document["metadata"]["finalizers"] = {"x/y", "batch.kubernetes.io/job-tracking"};
  EXPECT_FALSE(ReadPod(Stored("pods", document))->of_job) << "its controller is something else";
  document["metadata"]["ownerReferences"][1]["kind"] = "Job";
  PodPtr pod = ReadPod(Stored("pods", document));
  EXPECT_TRUE(pod->of_job);
  EXPECT_TRUE(pod->succeeded);
  EXPECT_TRUE(pod->tracked);
  EXPECT_EQ(pod->index, 7);
  document["status"]["phase"] = "Failed";
  document["metadata"]["annotations"] = {{"batch.kubernetes.io/job-completion-index", "-1"}};
  document["metadata"].erase("finalizers");
  pod = ReadPod(Stored("pods", document));
  EXPECT_FALSE(pod->succeeded);
  EXPECT_FALSE(pod->tracked);
  EXPECT_EQ(pod->index, std::nullopt);
}

TEST(Facts, AJobIsReadWithSpecAndStatus) {
  Json document = {{"spec",
                    {{"completionMode", "Indexed"},
                     {"podReplacementPolicy", "Failed"},
                     {"managedBy", "example.com/other"},
                     {"selector", {{"matchLabels", {{"app", "web"}}}}}}},
                   {"status",
                    {{"active", 1},
                     {"ready", 2},
                     {"terminating", 3},
                     {"succeeded", 4},
                     {"failed", 5},
                     {"uncountedTerminatedPods", {{"succeeded", {"a"}}, {"failed", {"b", "c"}}}}}}};
  JobPtr job = ReadJob(Stored("jobs", document));
  EXPECT_TRUE(job->indexed);
  EXPECT_TRUE(job->replaces_only_failed);
  EXPECT_FALSE(job->has_failure_policy);
  EXPECT_EQ(job->managed_by, "example.com/other");
  EXPECT_FALSE(job->finished);
  EXPECT_EQ(job->status, (JobCounts{1, 2, 3, 4, 5, 1, 2}));
  document["spec"]["podFailurePolicy"] = {{"rules", Json::array()}};
  document["status"] = {
      {"conditions",
       {{{"type", "Complete"}, {"status", "False"}}, {{"type", "Failed"}, {"status", "True"}}}}};
  job = ReadJob(Stored("jobs", document));
  EXPECT_TRUE(job->has_failure_policy);
  EXPECT_TRUE(job->finished);
  EXPECT_EQ(job->status.terminating, std::nullopt);
}

TEST(Facts, AReplicaSetIsReadWithSpecAndStatus) {
  Json document = {{"metadata", {{"generation", 3}, {"ownerReferences", {Owner("d1")}}}},
                   {"spec",
                    {{"replicas", 4},
                     {"minReadySeconds", 5},
                     {"selector", {{"matchLabels", {{"app", "web"}}}}},
                     {"template", {{"metadata", {{"labels", {{"app", "web"}, {"tier", "front"}}}}}}}}},
                   {"status",
                    {{"observedGeneration", 2},
                     {"replicas", 4},
                     {"fullyLabeledReplicas", 3},
                     {"readyReplicas", 2},
                     {"availableReplicas", 1},
                     {"terminatingReplicas", 0}}}};
  ReplicaSetPtr set = ReadReplicaSet("replicasets", Stored("replicasets", document));
  EXPECT_EQ(set->owner, "d1");
  EXPECT_EQ(set->generation, 3);
  EXPECT_EQ(set->observed_generation, 2);
  EXPECT_EQ(set->replicas, 4);
  EXPECT_EQ(set->min_ready_seconds, 5);
  EXPECT_EQ(set->selector.String(), "app=web");
  EXPECT_EQ(set->template_labels.String(), "app=web,tier=front");
  EXPECT_EQ(
      set->status,
      (ReportedCounts{.replicas = 4, .fully_labeled = 3, .ready = 2, .available = 1, .terminating = 0}));
}

TEST(Facts, AMissingCountIsAbsentNotZero) {
  Json document = {{"spec", {{"selector", {{"app", "web"}}}}}};
  ReplicaSetPtr set = ReadReplicaSet("replicationcontrollers", Stored("replicationcontrollers", document));
  EXPECT_EQ(set->selector.String(), "app=web");
  EXPECT_EQ(set->status.terminating, std::nullopt);
}

TEST(Facts, SurgeOfADeploymentIsANumberOrAPercentageThatRoundsUp) {
  auto surge = [](std::int64_t replicas, Json max_surge, const char* type = "RollingUpdate") {
    Json strategy = {{"type", type}, {"rollingUpdate", {{"maxSurge", std::move(max_surge)}}}};
    return ReadDeployment(Stored("deployments", {{"spec", {{"replicas", replicas}, {"strategy", strategy}}}}))
        ->surge;
  };
  EXPECT_EQ(surge(10, 3), 3);
  EXPECT_EQ(surge(10, "25%"), 3);
  EXPECT_EQ(surge(8, "25%"), 2);
  EXPECT_EQ(surge(10, "0%"), 0);
  EXPECT_EQ(surge(0, "25%"), 0);
  EXPECT_EQ(surge(3, "100%"), 3);
  EXPECT_EQ(surge(10, 3, "Recreate"), 0);
}

TEST(Facts, ADeploymentIsReadWithItsPolicy) {
  for (const char* policy : {"TerminationStarted", "TerminationComplete"}) {
    Json document = {{"spec", {{"replicas", 2}, {"podReplacementPolicy", policy}}}};
    EXPECT_EQ(ReadDeployment(Stored("deployments", document))->waits_for_termination,
              policy == std::string("TerminationComplete"));
  }
  EXPECT_FALSE(ReadDeployment(Stored("deployments", {{"spec", {{"replicas", 2}}}}))->waits_for_termination);
}

}  // namespace
}  // namespace terrarium::testbed::invariants
