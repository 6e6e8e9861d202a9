// Changes between the controller's sync and its writes, stale views, and refused writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "controllers/replicaset/replicaset_controller.h"
#include "controllers/runtime/owner_references.h"
#include "tests/controllers/replicaset/replica_testing.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using testing::IsEmpty;
using testing::SizeIs;
using Verb = api::WriteRequest::Verb;
using namespace std::chrono_literals;

constexpr const char* kGateOff =
    "DeploymentReplicaSetTerminatingReplicas=false,DeploymentPodReplacementPolicy=false";

class ReplicaSetRaces : public testing::Test {
 protected:
  ReplicaSetRaces() {
    ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
    controller_ = MakeReplicaSetController(context);
    informers_.OnSynced([this] { controller_->Start(); });
    informers_.Start();
    runtime_.RunReady();
  }

  ObjectPtr Put(int replicas, const Json& status = Json::object()) {
    Json owner = controllers_testing::ReplicaSet("web", replicas);
    owner["metadata"]["namespace"] = "default";
    owner["metadata"]["generation"] = ++generation_;
    if (ObjectPtr current = Owner()) owner["status"] = api::ObjectAt(*current->Document(), "status");
    if (!status.empty()) owner["status"] = status;
    return client_.Put("replicasets", owner);
  }
  ObjectPtr Owner() { return client_.Find("replicasets", {"default", "web"}); }
  Json Status() { return api::ObjectAt(*Owner()->Document(), "status"); }
  std::string FailureReason() {
    std::shared_ptr<const Json> document = Owner()->Document();
    const Json* condition = api::FindCondition(*document, "ReplicaFailure");
    return condition == nullptr ? "none" : std::string(api::StringAt(*condition, "reason"));
  }
  // Enqueues the owner, though nothing in it has changed.
  void Touch() {
    Json owner = Owner()->Parse();
    owner["metadata"]["annotations"]["touched"] = std::to_string(++touches_);
    client_.Put("replicasets", owner);
    runtime_.RunReady();
  }

  ObjectPtr OwnPod(const std::string& name, bool deleting = false) {
    Json pod = controllers_testing::Pod(name, {{"app", "web"}});
    pod["metadata"]["namespace"] = "default";
    pod["metadata"]["ownerReferences"] = {ControllerReference(*Owner(), "apps/v1", "ReplicaSet")};
    pod["metadata"]["finalizers"] = {"example.com/hold"};  // a delete only marks it
    if (deleting) pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    return client_.Put("pods", pod);
  }
  // The number of writes with that verb to that resource.
  std::vector<api::WriteRequest> Writes(Verb verb, const std::string& resource = "pods") {
    std::vector<api::WriteRequest> found;
    for (const api::WriteRequest& write : client_.writes)
      if (write.verb == verb && write.resource == resource) found.push_back(write);
    return found;
  }
  std::vector<std::string> Events() {
    std::vector<std::string> events;
    for (const api::WriteRequest& write : event_client_.writes)
      events.push_back(std::string(api::StringAt(write.body, "reason")) + ": " +
                       std::string(api::StringAt(write.body, "message")));
    return events;
  }
  static api::Status QuotaExceeded() {
    return api::Forbidden({"", "pods"}, "web-x",
                          "exceeded quota: two, requested: pods=1, used: pods=2, limited: pods=2");
  }
  static api::Status Terminating() {
    api::Status status =
        api::Forbidden({"", "pods"}, "web-x", "unable to create new content in namespace default");
    status.details->causes.push_back({"NamespaceTerminating", "namespace default is being terminated", ""});
    return status;
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  FakeClient event_client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  EventRecorder recorder_{runtime_.env(), event_client_};
  Metrics metrics_;
  WhyLog why_;
  std::unique_ptr<Controller> controller_;
  int generation_ = 0;
  int touches_ = 0;
};

TEST_F(ReplicaSetRaces, PodsThatWereCreatedAndNotYetSeenAreNotCreatedAgain) {
  informers_.For("pods").Pause();
  Put(3);
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(3));
  Touch();
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(3));
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(3));
  EXPECT_EQ(Status()["replicas"], 3);
}

TEST_F(ReplicaSetRaces, ExpectationsExpireAfterFiveMinutes) {
  informers_.For("pods").Pause();
  Put(1);
  runtime_.RunReady();
  runtime_.Advance(5min);
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(1));
  runtime_.Advance(1s);
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(2));
}

TEST_F(ReplicaSetRaces, ABurstEndsAt500AndTheNextWaitsUntilAllAreSeen) {
  informers_.For("pods").Pause();
  Put(1200);
  runtime_.RunReady();
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(500));
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(1200));
  Put(100);
  informers_.For("pods").Pause();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kDelete), SizeIs(500));
}

TEST_F(ReplicaSetRaces, APodIsDeletedByItsUid) {
  Put(2);
  ObjectPtr a = OwnPod("a");
  ObjectPtr b = OwnPod("b");
  runtime_.RunReady();
  Put(0);
  runtime_.RunReady();
  auto deletes = Writes(Verb::kDelete);
  ASSERT_THAT(deletes, SizeIs(2));
  EXPECT_EQ(deletes[0].body, Json({{"preconditions", {{"uid", a->header().uid}}}}));
}

// 1. Of a, b and c two must be deleted: a and b are chosen, their deletes are in flight.
// 2. Another client deletes a: the view sees it marked and then gone.
// 3. b is deleted, and the view does not have that yet: by its count there are still two pods, b and c.
TEST_F(ReplicaSetRaces, ADeletionThatIsSeenTwiceCountsOnce) {
  Put(3);
  for (const char* name : {"a", "b", "c"}) OwnPod(name);
  runtime_.RunReady();
  client_.HoldWrites();
  Put(1);
  runtime_.RunReady();
  auto chosen = Writes(Verb::kDelete);
  ASSERT_THAT(chosen, SizeIs(2));
  const std::string first = chosen[0].object.name;
  OwnPod(first, true);
  client_.Remove("pods", {"default", first});
  runtime_.RunReady();
  informers_.For("pods").Pause();
  client_.ReleaseWrites();
  runtime_.RunReady();
  Touch();
  EXPECT_THAT(Writes(Verb::kDelete), SizeIs(2)) << "the deletion of the other one has not been seen";
  informers_.For("pods").Resume();
  runtime_.RunReady();
  Touch();
  EXPECT_THAT(Writes(Verb::kDelete), SizeIs(2));
  EXPECT_EQ(Status()["replicas"], 1);
  EXPECT_EQ(FailureReason(), "none") << "an absent object is not a failure";
}

TEST_F(ReplicaSetRaces, AnExpectedDeletionOfAPodThatHasEndedMeanwhileIsSeen) {
  Put(2);
  OwnPod("a");
  OwnPod("b");
  runtime_.RunReady();
  informers_.For("pods").Pause();
  Put(1);
  runtime_.RunReady();
  ASSERT_THAT(Writes(Verb::kDelete), SizeIs(1));
  const std::string victim = Writes(Verb::kDelete)[0].object.name;
  Json pod = client_.Find("pods", {"default", victim})->Parse();
  pod["status"]["phase"] = "Failed";
  client_.Put("pods", pod);
  client_.Remove("pods", {"default", victim});
  Put(3);
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), IsEmpty());
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(2));
}

TEST_F(ReplicaSetRaces, ARefusedPodIsReportedAsAConditionAndRetriedLater) {
  client_.write_failures = {QuotaExceeded()};
  Put(5);
  runtime_.RunReady();
  const std::string why =
      "pods \"web-x\" is forbidden: exceeded quota: two, requested: pods=1, used: pods=2, limited: pods=2";
  // The status write that reports it causes an event, after which the controller tries again.
  EXPECT_THAT(Events(), testing::Contains("FailedCreate: Error creating: " + why));
  EXPECT_EQ(Status()["observedGeneration"], 1);
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(6));
  EXPECT_EQ(Status()["replicas"], 5);
  EXPECT_EQ(FailureReason(), "none");
}

TEST_F(ReplicaSetRaces, WhilePodsAreRefusedOneIsTriedAtATimeWithBackoff) {
  client_.write_failures = {QuotaExceeded(), std::nullopt};  // the pod, the status
  for (int i = 0; i < 40; ++i) client_.write_failures.push_back(QuotaExceeded());
  Put(5);
  runtime_.RunReady();
  EXPECT_EQ(FailureReason(), "FailedCreate");
  const std::size_t immediate = Writes(Verb::kCreate).size();
  EXPECT_LE(immediate, 2u);
  runtime_.Advance(1s);
  const std::size_t after_a_second = Writes(Verb::kCreate).size();
  EXPECT_GT(after_a_second, immediate);
  EXPECT_LE(after_a_second, 12u) << "5 ms, 10 ms, 20 ms, ...";
  EXPECT_THAT(Writes(Verb::kUpdate, "replicasets"), SizeIs(1)) << "it is reported once";
}

TEST_F(ReplicaSetRaces, AfterARefusalTheRestOfTheBurstIsNotExpected) {
  Put(0);
  runtime_.RunReady();
  client_.write_failures = {std::nullopt, std::nullopt, QuotaExceeded()};  // one, then two
  Put(20);
  runtime_.RunReady();
  EXPECT_EQ(Status()["replicas"], 20) << "the next try did not wait for pods that were not created";
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(21));
}

TEST_F(ReplicaSetRaces, InATerminatingNamespaceNothingIsRetried) {
  client_.write_failures = {Terminating()};
  Put(5);
  runtime_.RunReady();
  runtime_.Advance(1min);
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(1));
  EXPECT_THAT(Events(), IsEmpty());
  EXPECT_EQ(FailureReason(), "none");
}

TEST_F(ReplicaSetRaces, ARefusedDeleteIsReportedAsAConditionAndRetried) {
  Put(1);
  OwnPod("a");
  runtime_.RunReady();
  client_.write_failures = {api::InternalError("no")};
  Put(0);
  runtime_.RunReady();
  EXPECT_THAT(Events(), testing::Contains("FailedDelete: Error deleting: Internal error occurred: no"));
  EXPECT_THAT(Writes(Verb::kDelete), SizeIs(2));
  EXPECT_EQ(Status()["replicas"], 0);
  EXPECT_EQ(FailureReason(), "none");
}

TEST_F(ReplicaSetRaces, AStatusConflictIsRetriedOnTheCurrentObject) {
  Put(0);
  runtime_.RunReady();
  informers_.For("replicasets").Pause();
  Json owner = Owner()->Parse();
  owner["metadata"]["annotations"] = {{"note", "mine"}};
  client_.Put("replicasets", owner);
  OwnPod("a", true);
  runtime_.RunReady();
  EXPECT_EQ(Status()["terminatingReplicas"], 1);
  EXPECT_EQ(Owner()->Parse()["metadata"]["annotations"]["note"], "mine");
  EXPECT_EQ(client_.gets, 1);
}

TEST_F(ReplicaSetRaces, AStatusThatWasWrittenAndNotYetSeenIsNotWrittenAgain) {
  Put(0);
  runtime_.RunReady();
  informers_.For("replicasets").Pause();
  OwnPod("a", true);
  runtime_.RunReady();
  OwnPod("b", true);
  runtime_.RunReady();
  const std::size_t writes = Writes(Verb::kUpdate, "replicasets").size();
  EXPECT_EQ(Status()["terminatingReplicas"], 2);
  EXPECT_EQ(client_.gets, 0) << "no conflict with its own writes";
  informers_.For("replicasets").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kUpdate, "replicasets"), SizeIs(writes));
}

TEST_F(ReplicaSetRaces, AnOwnerThatIsGoneMeanwhileIsNotAFailure) {
  Put(1);
  OwnPod("a");
  runtime_.RunReady();
  informers_.For("replicasets").Pause();
  client_.Remove("replicasets", {"default", "web"});
  client_.Remove("pods", {"default", "a"});
  runtime_.RunReady();
  EXPECT_THAT(runtime_.log(), testing::Not(testing::Contains(testing::HasSubstr("warning"))));
  informers_.For("replicasets").Resume();
  runtime_.RunReady();
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
}

TEST_F(ReplicaSetRaces, AnOwnerThatIsReallyBeingDeletedAdoptsNothing) {
  Put(1);
  runtime_.RunReady();
  informers_.For("replicasets").Pause();
  Json owner = Owner()->Parse();
  owner["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  client_.Put("replicasets", owner);
  Json orphan = controllers_testing::Pod("orphan", {{"app", "web"}});
  orphan["metadata"]["namespace"] = "default";
  client_.Put("pods", orphan);
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kPatch), IsEmpty());
  informers_.For("replicasets").Resume();
  runtime_.RunReady();
  runtime_.Advance(1min);
  EXPECT_THAT(Writes(Verb::kPatch), IsEmpty());
}

TEST_F(ReplicaSetRaces, WhileAnOrphanIsBeingAdoptedNoPodIsCreatedInItsPlace) {
  Json orphan = controllers_testing::Pod("orphan", {{"app", "web"}});
  orphan["metadata"]["namespace"] = "default";
  client_.Put("pods", orphan);
  runtime_.RunReady();
  informers_.For("pods").Pause();
  Put(1);
  runtime_.RunReady();
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate), IsEmpty());
  EXPECT_EQ(Status()["replicas"], 1) << "before the informer has shown the adoption";
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), IsEmpty());
  EXPECT_EQ(Status()["replicas"], 1);
}

// As in Kubernetes: adopted pods count in the same sync, for the number of pods and for the status.
TEST_F(ReplicaSetRaces, ASurplusPodIsAdoptedAndDeletedInTheSameSync) {
  Json orphan = controllers_testing::Pod("orphan", {{"app", "web"}});
  orphan["metadata"]["namespace"] = "default";
  client_.Put("pods", orphan);
  runtime_.RunReady();
  informers_.For("pods").Pause();
  Put(0);
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kPatch), SizeIs(1));
  EXPECT_THAT(Writes(Verb::kDelete), SizeIs(1)) << "before the informer has shown the adoption";
  EXPECT_EQ(Status()["replicas"], 1) << "the adopted pod, whose deletion the informer has not shown either";
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_EQ(Status()["replicas"], 0);
  EXPECT_THAT(Writes(Verb::kDelete), SizeIs(1));
}

// KEP-3973, unit: with the gate off, the next sync removes an old value.
TEST_F(ReplicaSetRaces, WithTheGateOffAnOldNumberOfTerminatingReplicasIsRemoved) {
  runtime_.gates() = *runtime_.gates().With(kGateOff);
  Put(0, {{"replicas", 0}, {"terminatingReplicas", 2}});
  runtime_.RunReady();
  EXPECT_EQ(Status(), Json({{"replicas", 0}, {"observedGeneration", 1}}));
  OwnPod("a", true);
  runtime_.RunReady();
  EXPECT_EQ(Status(), Json({{"replicas", 0}, {"observedGeneration", 1}}));
  EXPECT_THAT(Writes(Verb::kUpdate, "replicasets"), SizeIs(1));
}

// KEP-3973: enablement, disablement and re-enablement.
TEST_F(ReplicaSetRaces, TerminatingReplicasComeAndGoWithTheGate) {
  const api::FeatureGates on = runtime_.gates();
  Put(0);
  OwnPod("a", true);
  runtime_.RunReady();
  EXPECT_EQ(Status()["terminatingReplicas"], 1);
  runtime_.gates() = *on.With(kGateOff);
  Touch();
  EXPECT_FALSE(Status().contains("terminatingReplicas"));
  OwnPod("b", true);
  runtime_.gates() = on;
  Touch();
  EXPECT_EQ(Status()["terminatingReplicas"], 2);
}

TEST_F(ReplicaSetRaces, AfterItsEndEventsDoNothing) {
  controller_.reset();
  Put(3);
  runtime_.RunReady();
  EXPECT_TRUE(client_.writes.empty());
}

TEST_F(ReplicaSetRaces, ItMayEndInTheMiddleOfABurst) {
  client_.HoldWrites();
  Put(3);
  runtime_.RunReady();
  controller_.reset();
  client_.ReleaseWrites();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(1));
}

}  // namespace
}  // namespace terrarium::controllers
