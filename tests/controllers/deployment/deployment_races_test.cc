// Stale views of the controller, and failing writes.

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/deployment/internal/conditions.h"
#include "tests/controllers/deployment/deployment_alone.h"

namespace terrarium::controllers::deployment {
namespace {

using namespace std::chrono_literals;

using DeploymentRaces = DeploymentAlone;

constexpr auto kCreate = WriteRequest::Verb::kCreate;
constexpr auto kPatch = WriteRequest::Verb::kPatch;
constexpr auto kUpdate = WriteRequest::Verb::kUpdate;
constexpr auto kDelete = WriteRequest::Verb::kDelete;

TEST_F(DeploymentRaces, NothingIsWrittenWhereNothingChanges) {
  RunOne(3);
  EXPECT_EQ(Reason(), kSetAvailable);
  Json deployment = client_.Find("deployments", kName)->Parse();
  deployment["metadata"]["labels"] = {{"x", "y"}};
  client_.Put("deployments", deployment);
  client_.Put("replicasets", Set());
  runtime_.Advance(2h);
  EXPECT_TRUE(client_.writes.empty());
}

// The controller must not use the old, smaller size of a ReplicaSet that it has scaled up.
TEST_F(DeploymentRaces, WhatItHasWrittenIsWaitedForBeforeTheNextDecision) {
  RunOne(3);
  informers_.For("replicasets").Pause();
  SetSpec("replicas", 5);
  ASSERT_EQ(Writes("replicasets", kPatch), 1);
  SetSpec("replicas", 7);
  SetSpec("minReadySeconds", 3);
  runtime_.Advance(1h);
  EXPECT_EQ(Writes("replicasets", kPatch), 1);
  EXPECT_EQ(Set()["spec"]["replicas"], 5);
  informers_.For("replicasets").Resume();
  runtime_.RunReady();
  EXPECT_EQ(Set()["spec"]["replicas"], 7);
  EXPECT_EQ(Set()["spec"]["minReadySeconds"], 3);
}

TEST_F(DeploymentRaces, AReplicaSetThatWasMadeIsNotMadeAgain) {
  informers_.For("replicasets").Pause();
  Put(Deployment(3));
  ASSERT_EQ(Writes("replicasets", kCreate), 1);
  SetSpec("replicas", 4);
  runtime_.Advance(1min);
  EXPECT_EQ(Writes("replicasets", kCreate), 1);
  informers_.For("replicasets").Resume();
  runtime_.RunReady();
  EXPECT_EQ(Set()["spec"]["replicas"], 4);
}

TEST_F(DeploymentRaces, AStatusThatWasWrittenIsNotWrittenAgain) {
  RunOne(3);
  informers_.For("deployments").Pause();
  ReportAll(Set(), {{"readyReplicas", 2}, {"availableReplicas", 2}});
  ASSERT_EQ(Writes("deployments", kPatch), 1);
  ReportAll(Set(), {{"readyReplicas", 1}, {"availableReplicas", 1}});
  runtime_.Advance(1min);
  EXPECT_EQ(Writes("deployments", kPatch), 1);
  informers_.For("deployments").Resume();
  runtime_.RunReady();
  EXPECT_EQ(Status()["readyReplicas"], 1);
}

// The controller ends while its ReplicaSet is being created. The next controller finds the name taken by its
// own ReplicaSet.
TEST_F(DeploymentRaces, AReplicaSetThatWasMadeBeforeARestartIsFound) {
  client_.HoldWrites();
  Put(Deployment(3));
  controller_.reset();
  StartController();
  ASSERT_EQ(Writes("replicasets", kCreate), 2);
  client_.ReleaseWrites();
  runtime_.RunReady();
  EXPECT_EQ(Sets().size(), 1u);
  EXPECT_FALSE(Status().contains("collisionCount"));
  EXPECT_EQ(Reason(), kSetFound);
}

TEST_F(DeploymentRaces, ANameTakenByAnotherOwnerIsACollision) {
  Put(Deployment(3));
  Json stranger = Set();
  client_.Remove("deployments", kName);
  stranger["metadata"]["ownerReferences"][0]["uid"] = "stranger";
  stranger["metadata"]["ownerReferences"][0]["name"] = "stranger";
  client_.Put("replicasets", stranger);
  runtime_.RunReady();
  Put(Deployment(3));
  EXPECT_EQ(Status()["collisionCount"], 1);
  EXPECT_EQ(Sets().size(), 2u);
  EXPECT_EQ(Reason(), kSetCreated);
}

TEST_F(DeploymentRaces, AReplicaSetThatCannotBeCreatedIsReportedAndRetried) {
  client_.full = true;
  Put(Deployment(3));
  EXPECT_EQ(Reason(), kSetNotCreated);
  EXPECT_EQ(Events("ReplicaSetCreateError"), 1);
  const Json status = Status();
  std::string message(StringAt(*FindCondition(status["conditions"], kProgressing), "message"));
  EXPECT_TRUE(message.starts_with("Failed to create new replica set \"web-")) << message;
  EXPECT_TRUE(message.ends_with("exceeded quota")) << message;
  client_.full = false;
  runtime_.Advance(1s);
  EXPECT_EQ(Reason(), kSetCreated);
  EXPECT_EQ(Set()["spec"]["replicas"], 3);
}

TEST_F(DeploymentRaces, AfterFifteenFailuresInARowItWaitsForSomethingToChange) {
  client_.full = true;
  Put(Deployment(3));
  runtime_.Advance(24h);
  EXPECT_EQ(client_.refused, 16);
  client_.full = false;
  runtime_.Advance(24h);
  EXPECT_TRUE(Sets().empty());
  SetSpec("replicas", 4);
  EXPECT_EQ(Set()["spec"]["replicas"], 4);
}

TEST_F(DeploymentRaces, InANamespaceThatGoesNothingIsTriedAgain) {
  api::Status going = Refused();
  going.details->causes.push_back(
      {"NamespaceTerminating", "namespace default is being terminated", "metadata.namespace"});
  client_.write_failures = {going};
  Put(Deployment(3));
  runtime_.Advance(1h);
  EXPECT_EQ(Writes("replicasets", kCreate), 1);
  EXPECT_EQ(Reason(), "none");
  EXPECT_EQ(Events("ReplicaSetCreateError"), 0);
}

TEST_F(DeploymentRaces, AScaleThatFailsIsTriedAgain) {
  RunOne(3);
  client_.write_failures = {api::ServiceUnavailable("later")};
  SetSpec("replicas", 5);
  EXPECT_EQ(Set()["spec"]["replicas"], 3);
  EXPECT_EQ(Events("ScalingReplicaSet"), 1) << "only that of its creation";
  runtime_.Advance(1s);
  EXPECT_EQ(Set()["spec"]["replicas"], 5);
}

TEST_F(DeploymentRaces, AnotherSetOfTheSameNameIsLeftAlone) {
  RunOne(3);
  informers_.For("replicasets").Pause();
  Json impostor = Set();
  client_.Remove("replicasets", {"default", std::string(StringAt(impostor, "metadata", "name"))});
  impostor["metadata"]["uid"] = "another";
  impostor["metadata"].erase("ownerReferences");
  impostor["metadata"]["labels"] = {{"app", "other"}};
  client_.Put("replicasets", impostor);
  SetSpec("replicas", 5);
  EXPECT_EQ(Set()["spec"]["replicas"], 3);
}

// TestSyncDeploymentDeletionRace of Kubernetes: the view does not have the Deployment's deletionTimestamp
// yet.
TEST_F(DeploymentRaces, ADeploymentThatIsBeingDeletedAdoptsNothing) {
  RunOne(3);
  Json orphan = Set();
  orphan["metadata"].erase("ownerReferences");
  orphan["metadata"]["name"] = "orphan";
  orphan["metadata"].erase("uid");
  informers_.For("deployments").Pause();
  Json deployment = client_.Find("deployments", kName)->Parse();
  deployment["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  client_.Put("deployments", deployment);
  client_.Put("replicasets", orphan);
  runtime_.RunReady();
  EXPECT_FALSE(
      client_.Find("replicasets", {"default", "orphan"})->Parse()["metadata"].contains("ownerReferences"));
}

// An orphan that was deleted meanwhile does not block the sync of the Deployment.
TEST_F(DeploymentRaces, AnOrphanThatHasGoneIsForgotten) {
  Put(Deployment(1));
  Json orphan = Set();
  client_.Remove("deployments", kName);
  client_.Remove("replicasets", {"default", std::string(StringAt(orphan, "metadata", "name"))});
  orphan["metadata"].erase("ownerReferences");
  orphan["metadata"]["name"] = "orphan";
  orphan["spec"]["template"]["spec"]["containers"][0]["image"] = "web:0";
  client_.Put("replicasets", orphan);
  runtime_.RunReady();
  informers_.For("replicasets").Pause();
  client_.Remove("replicasets", {"default", "orphan"});
  Put(Deployment(2));
  EXPECT_EQ(Writes("replicasets", kCreate), 2) << "one for each of the two Deployments";
}

// TestDontSyncDeploymentsWithEmptyPodSelector of Kubernetes.
TEST_F(DeploymentRaces, ADeploymentThatSelectsEverythingIsRefused) {
  Json deployment = Deployment(3);
  deployment["spec"]["selector"] = Json::object();
  Put(deployment);
  EXPECT_EQ(Writes("replicasets", kCreate), 0);
  EXPECT_EQ(Events("SelectingAll"), 1);
  EXPECT_EQ(Status()["observedGeneration"], generation_);
}

TEST_F(DeploymentRaces, AFailureOfAReplicaSetIsTheDeploymentsToo) {
  RunOne(3);
  Json failure = {{"type", "ReplicaFailure"},
                  {"status", "True"},
                  {"reason", "FailedCreate"},
                  {"message", "pods \"x\" is forbidden: exceeded quota"},
                  {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
  ReportAll(Set(), {{"conditions", Json::array({failure})}});
  const Json status = Status();
  const Json* condition = FindCondition(status["conditions"], kReplicaFailure);
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(StringAt(*condition, "message"), "pods \"x\" is forbidden: exceeded quota");
  ReportAll(Set());
  EXPECT_EQ(FindCondition(Status()["conditions"], kReplicaFailure), nullptr);
}

TEST_F(DeploymentRaces, ARollbackThatMeetsAChangeIsTriedAgainOnIt) {
  RunOne(3);
  Json deployment = client_.Find("deployments", kName)->Parse();
  deployment["metadata"]["annotations"][std::string(kRollbackTo)] = "5";
  informers_.For("deployments").Pause();
  client_.Put("deployments", deployment);
  informers_.For("deployments").Resume();
  client_.write_failures = {api::ModifiedConflict({"apps", "deployments"}, "web")};
  runtime_.RunReady();
  EXPECT_EQ(Writes("deployments", kUpdate), 1);
  runtime_.Advance(1s);
  const Json now = client_.Find("deployments", kName)->Parse();
  EXPECT_EQ(api::Find(now, "metadata", "annotations", kRollbackTo), nullptr);
}

TEST_F(DeploymentRaces, HistoryThatHasGoneMeanwhileIsGone) {
  RunOne(3);
  const Json first = Set();
  SetSpec("template", {{"metadata", {{"labels", {{"app", "web"}}}}},
                       {"spec", {{"containers", {{{"name", "c"}, {"image", "web:2"}}}}}}});
  for (int i = 0; i < 10; ++i)
    for (const ObjectPtr& set : Sets()) ReportAll(set->Parse());
  ASSERT_EQ(Reason(), kSetAvailable);
  informers_.For("replicasets").Pause();
  client_.Remove("replicasets", {"default", std::string(StringAt(first, "metadata", "name"))});
  client_.writes.clear();
  SetSpec("revisionHistoryLimit", 0);
  EXPECT_EQ(Writes("replicasets", kDelete), 1);
  EXPECT_EQ(Status()["observedGeneration"], generation_) << "that it had gone is no failure";
}

// A ReplicaSet controller with a stale view of pods, like that of Kubernetes. maxSurge is 0.
class LaggingReplicaSets : public DeploymentAlone {
 protected:
  LaggingReplicaSets() {
    runtime_.gates() = *runtime_.gates().With("DeploymentPodReplacementPolicy=true");
    Json deployment = Deployment(4);
    deployment["spec"]["podReplacementPolicy"] = "TerminationComplete";
    deployment["spec"]["strategy"]["rollingUpdate"] = {{"maxSurge", 0}, {"maxUnavailable", 2}};
    Put(std::move(deployment));
  }
  Json SetOf(const std::string& image) {
    for (const ObjectPtr& set : Sets()) {
      Json document = set->Parse();
      if (document["spec"]["template"]["spec"]["containers"][0]["image"] == image) return document;
    }
    ADD_FAILURE() << "no ReplicaSet of " << image;
    return Json::object();
  }
  int SizeOf(const std::string& image) { return SetOf(image)["spec"]["replicas"]; }
  // The status as written by the ReplicaSet controller, which has observed the ReplicaSet's current
  // generation.
  void Report(const std::string& image, int live, int terminating) {
    Json set = SetOf(image);
    const int generation = set["spec"]["replicas"].get<int>() + 100;  // another one for another size
    set["metadata"]["generation"] = generation;
    set["status"] = {
        {"replicas", live}, {"observedGeneration", generation}, {"terminatingReplicas", terminating}};
    client_.Put("replicasets", std::move(set));
    runtime_.RunReady();
  }
  void PutPod(const std::string& name) {
    const Json set = SetOf("web:1");
    Json pod = {{"metadata",
                 {{"name", name},
                  {"namespace", "default"},
                  {"ownerReferences",
                   {{{"apiVersion", "apps/v1"},
                     {"kind", "ReplicaSet"},
                     {"name", set["metadata"]["name"]},
                     {"uid", set["metadata"]["uid"]},
                     {"controller", true}}}}}},
                {"status", {{"phase", "Running"}}}};
    client_.Put("pods", std::move(pod));
    runtime_.RunReady();
  }
  void Terminate(const std::string& name) {
    Json pod = client_.Find("pods", {"default", name})->Parse();
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z";
    client_.Put("pods", std::move(pod));
    runtime_.RunReady();
  }
  void Fail(const std::string& name) {
    Json pod = client_.Find("pods", {"default", name})->Parse();
    pod["status"]["phase"] = "Failed";
    client_.Put("pods", std::move(pod));
    runtime_.RunReady();
  }
  void Remove(const std::string& name) {
    client_.Remove("pods", {"default", name});
    runtime_.RunReady();
  }
  void RollOut(const std::string& image) {
    Json deployment = client_.Find("deployments", kName)->Parse();
    deployment["spec"]["template"]["spec"]["containers"][0]["image"] = image;
    SetSpec("template", deployment["spec"]["template"]);
  }
};

// Observed with the real replicaset-controller when StaleControllerConsistencyReplicaSet is off:
//   1. the first ReplicaSet, of 4, creates four pods
//   2. its status is written: generation observed, 0 live; its controller has not seen the pods
//   3. the template changes; of 4 unavailable replicas 2 may go, and the ReplicaSet is scaled to 2
//   4. its status is written: the new generation observed, 0 live, 0 terminating
//   5. by that status there are max(2, 0) + 0 pods, and the second ReplicaSet is scaled to 2: six pods
//      where four are allowed
TEST_F(LaggingReplicaSets, PodsThatAStatusDoesNotCountTakeUpRoom) {
  for (const char* pod : {"a", "b", "c", "d"}) PutPod(pod);
  Report("web:1", 0, 0);
  RollOut("web:2");
  ASSERT_EQ(SizeOf("web:1"), 2);
  Report("web:2", 0, 0);
  Report("web:1", 0, 0);
  EXPECT_EQ(SizeOf("web:2"), 0);
  Terminate("a");
  Terminate("b");
  Report("web:1", 2, 2);
  EXPECT_EQ(SizeOf("web:2"), 0) << "they terminate";
  Remove("a");
  EXPECT_EQ(SizeOf("web:2"), 0) << "the status still counts two";
  Report("web:1", 2, 0);
  EXPECT_EQ(SizeOf("web:2"), 1) << "the other one exists, contrary to the status";
  Remove("b");
  EXPECT_EQ(SizeOf("web:2"), 2) << "its end wakes the Deployment";
}

// Possible with StaleControllerConsistencyReplicaSet as well, by which the real replicaset-controller waits
// for the pods that it has created and not for its deletions:
//   1. the first ReplicaSet, of 4, is scaled to 2 by a rollout; a pod fails
//   2. before its controller sees the failure, it deletes two of the four pods that it knows
//   3. the rollout is undone; the first ReplicaSet may grow again
//   4. its controller sees the failure and one of the deletions; its status is written: 2 live, 1 terminating
//   5. by that status there are 3 pods, and the ReplicaSet is scaled to 3
//   6. its controller sees the second deletion, finds 1 live pod and creates 2: five pods where four are
//      allowed
TEST_F(LaggingReplicaSets, DeletedPodsThatAStatusCountsAsLiveTakeUpRoom) {
  for (const char* pod : {"a", "b", "c", "d"}) PutPod(pod);
  Report("web:1", 4, 0);
  RollOut("web:2");
  ASSERT_EQ(SizeOf("web:1"), 2);
  Report("web:2", 0, 0);
  Fail("d");
  Terminate("a");
  Terminate("b");
  Report("web:1", 4, 0);
  RollOut("web:1");
  Report("web:1", 2, 1);
  EXPECT_EQ(SizeOf("web:1"), 2) << "one is live, two terminate";
  Remove("a");
  EXPECT_EQ(SizeOf("web:1"), 3) << "two are live or about to be created, one terminates";
  Report("web:1", 3, 1);
  Remove("b");
  Report("web:1", 3, 0);
  EXPECT_EQ(SizeOf("web:1"), 4);
}

}  // namespace
}  // namespace terrarium::controllers::deployment
