// Stale views, failed writes and changes between a sync and its writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/runtime/owner_references.h"
#include "controllers/statefulset/statefulset_controller.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"
#include "tests/controllers/statefulset/statefulset_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Verb = api::WriteRequest::Verb;
using namespace std::chrono_literals;

const Json kParallel = {{"podManagementPolicy", "Parallel"}};
const Json kClaims = {
    {"volumeClaimTemplates", {{{"metadata", {{"name", "data"}}}, {"spec", Json::object()}}}}};

class StatefulSetRaces : public testing::Test {
 protected:
  StatefulSetRaces() {
    ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
    controller_ = MakeStatefulSetController(context);
    informers_.OnSynced([this] { controller_->Start(); });
    informers_.Start();
    runtime_.RunReady();
  }

  ObjectPtr Put(int replicas, const Json& spec = Json::object()) {
    Json set = controllers_testing::StatefulSet(replicas, spec);
    set["metadata"]["generation"] = ++generation_;
    if (ObjectPtr current = Set()) set["status"] = api::ObjectAt(*current->Document(), "status");
    ObjectPtr stored = client_.Put("statefulsets", set);
    return stored;
  }
  ObjectPtr Set() { return client_.Find("statefulsets", {"default", "web"}); }
  Json Status() { return api::ObjectAt(*Set()->Document(), "status"); }
  // Enqueues the set, though nothing in it has changed.
  void Touch() {
    Json set = Set()->Parse();
    set["metadata"]["annotations"]["touched"] = std::to_string(++touches_);
    client_.Put("statefulsets", set);
    runtime_.RunReady();
  }
  ObjectPtr Pod(const std::string& name) { return client_.Find("pods", {"default", name}); }
  ObjectPtr Claim(const std::string& name) {
    return client_.Find("persistentvolumeclaims", {"default", name});
  }
  // As the kubelet would.
  void MakeReady(const std::string& name) {
    Json pod = Pod(name)->Parse();
    pod["status"] = {
        {"phase", "Running"},
        {"conditions",
         {{{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", api::FormatTime(runtime_.Now())}}}}};
    client_.Put("pods", pod);
  }
  void SetPhase(const std::string& name, const char* phase) {
    Json pod = Pod(name)->Parse();
    pod["status"] = {{"phase", phase}};
    client_.Put("pods", pod);
  }
  std::vector<std::string> Writes(Verb verb, const std::string& resource = "pods") {
    std::vector<std::string> found;
    for (const api::WriteRequest& write : client_.writes) {
      if (write.verb != verb || write.resource != resource) continue;
      found.push_back(verb == Verb::kCreate ? std::string(api::StringAt(write.body, "metadata", "name"))
                                            : write.object.name);
    }
    return found;
  }
  std::vector<std::string> Events() {
    std::vector<std::string> events;
    for (const api::WriteRequest& write : event_client_.writes)
      events.push_back(std::string(api::StringAt(write.body, "reason")) + ": " +
                       std::string(api::StringAt(write.body, "message")));
    return events;
  }
  static api::Status Refused(const char* name) { return api::Forbidden({"", "pods"}, name, "no room"); }

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

TEST_F(StatefulSetRaces, APodThatWasCreatedAndNotSeenIsNotCreatedAgain) {
  informers_.For("pods").Pause();
  Put(2, kParallel);
  runtime_.RunReady();
  Touch();
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate), ElementsAre("web-0", "web-1"));
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(2));
  EXPECT_EQ(Status()["replicas"], 2);
}

TEST_F(StatefulSetRaces, ADeletionThatWasNotSeenIsNotRepeated) {
  Put(2, kParallel);
  runtime_.RunReady();
  informers_.For("pods").Pause();
  Put(1, kParallel);
  runtime_.RunReady();
  Touch();
  EXPECT_THAT(Writes(Verb::kDelete), ElementsAre("web-1"));
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kDelete), SizeIs(1));
  EXPECT_EQ(Status()["replicas"], 1);
}

// A list shows neither the pod that was created nor its removal. No event wakes the set.
TEST_F(StatefulSetRaces, APodThatCameAndWentUnseenIsCreatedAgain) {
  informers_.For("pods").Pause();
  Put(1);
  runtime_.RunReady();
  Touch();
  client_.Remove("pods", {"default", "web-0"});
  client_.Compact();
  informers_.For("pods").Disconnect();
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(1));
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
  runtime_.Advance(1min);
  EXPECT_THAT(Writes(Verb::kCreate), ElementsAre("web-0", "web-0"));
}

TEST_F(StatefulSetRaces, AStaleSetIsNotActedOn) {
  Put(1);
  runtime_.RunReady();
  MakeReady("web-0");
  informers_.For("statefulsets").Pause();
  runtime_.RunReady();  // writes the status
  const std::size_t writes = client_.writes.size();
  client_.Put("pods", [&] {
    Json pod = Pod("web-0")->Parse();
    pod["metadata"]["labels"]["x"] = "y";
    return pod;
  }());
  runtime_.RunReady();
  EXPECT_EQ(client_.writes.size(), writes);
  informers_.For("statefulsets").Resume();
  runtime_.RunReady();
  EXPECT_EQ(client_.writes.size(), writes);
}

TEST_F(StatefulSetRaces, ARevisionThatWasNotSeenIsNotCreatedAgain) {
  informers_.For("controllerrevisions").Pause();
  Put(1);
  runtime_.RunReady();
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate, "controllerrevisions"), SizeIs(1));
  informers_.For("controllerrevisions").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate, "controllerrevisions"), SizeIs(1));
  EXPECT_THAT(Writes(Verb::kCreate), ElementsAre("web-0"));
}

TEST_F(StatefulSetRaces, AStatusThatConflictsIsWrittenOverTheLiveSet) {
  Put(1);
  runtime_.RunReady();
  informers_.For("statefulsets").Pause();
  Json set = Set()->Parse();
  set["metadata"]["annotations"]["other"] = "write";
  client_.Put("statefulsets", set);
  MakeReady("web-0");
  runtime_.RunReady();
  EXPECT_EQ(Status()["readyReplicas"], 1);
  EXPECT_EQ(Set()->Parse()["metadata"]["annotations"]["other"], "write");
}

TEST_F(StatefulSetRaces, AFailedCreationIsRetriedWithBackoff) {
  // The revision is created, the pod is not, the status is written, the pod is refused again.
  client_.write_failures = {std::nullopt, Refused("web-0"), std::nullopt, Refused("web-0")};
  Put(2);
  runtime_.RunReady();
  EXPECT_EQ(Pod("web-0"), nullptr);
  EXPECT_EQ(Status()["observedGeneration"], 1);
  EXPECT_EQ(Events()[0],
            "FailedCreate: Create Pod web-0 in StatefulSet web failed error: pods \"web-0\" is forbidden: no "
            "room");
  runtime_.Advance(1s);
  EXPECT_NE(Pod("web-0"), nullptr);
  EXPECT_EQ(Pod("web-1"), nullptr);
}

// Batches of 1, 2, 4, ...: a failure ends the sync after its batch.
TEST_F(StatefulSetRaces, ABurstEndsWithTheFirstFailure) {
  client_.write_failures = {std::nullopt, std::nullopt, Refused("web-1")};
  Put(10, kParallel);
  while (Writes(Verb::kUpdate, "statefulsets").empty()) ASSERT_TRUE(runtime_.RunOne());
  EXPECT_THAT(Writes(Verb::kCreate), ElementsAre("web-0", "web-1", "web-2"));
  runtime_.Advance(1s);
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(11));
  EXPECT_NE(Pod("web-9"), nullptr);
}

TEST_F(StatefulSetRaces, ANameThatIsTakenCausesNoEvent) {
  client_.Put("pods", {{"metadata", {{"name", "web-0"}, {"namespace", "default"}}}});
  Put(1);
  runtime_.RunReady();
  EXPECT_THAT(Events(), IsEmpty());
  client_.Remove("pods", {"default", "web-0"});
  runtime_.Advance(1min);
  ASSERT_NE(Pod("web-0"), nullptr);
  EXPECT_NE(Pod("web-0")->controller(), nullptr);
}

TEST_F(StatefulSetRaces, APodIsDeletedByItsUid) {
  Put(2, kParallel);
  runtime_.RunReady();
  const std::string uid = Pod("web-1")->header().uid;
  Put(1, kParallel);
  runtime_.RunReady();
  ASSERT_THAT(Writes(Verb::kDelete), SizeIs(1));
  for (const api::WriteRequest& write : client_.writes) {
    if (write.verb != Verb::kDelete) continue;
    EXPECT_EQ(api::StringAt(write.body, "preconditions", "uid"), uid);
  }
}

TEST_F(StatefulSetRaces, ADeletedSetIsLeftAlone) {
  Json set = controllers_testing::StatefulSet(2);
  set["metadata"]["generation"] = 1;
  set["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  set["metadata"]["finalizers"] = {"foregroundDeletion"};
  client_.Put("statefulsets", set);
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), IsEmpty());
  EXPECT_EQ(Status()["observedGeneration"], 1);
}

TEST_F(StatefulSetRaces, AnOrphanIsNotAdoptedByAReplacedSet) {
  Put(1);
  runtime_.RunReady();
  informers_.For("statefulsets").Pause();
  client_.Remove("statefulsets", {"default", "web"});
  Put(1);  // another uid
  client_.Put("pods",
              {{"metadata", {{"name", "web-3"}, {"namespace", "default"}, {"labels", {{"app", "web"}}}}}});
  runtime_.RunReady();
  EXPECT_EQ(Pod("web-3")->controller(), nullptr);
}

TEST_F(StatefulSetRaces, APodWithoutItsStorageIsUpdated) {
  Put(1);
  runtime_.RunReady();
  MakeReady("web-0");
  runtime_.RunReady();
  Put(1, kClaims);  // the API does not allow this; an adopted pod can be in this state
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate, "persistentvolumeclaims"), ElementsAre("data-web-0"));
  EXPECT_THAT(Events(), Contains("SuccessfulUpdate: Update Pod web-0 in StatefulSet web successful"));
  EXPECT_EQ(Pod("web-0")->Parse()["spec"]["volumes"],
            Json::parse(R"([{"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}])"));
}

// Claims.

TEST_F(StatefulSetRaces, ClaimsAreCreatedBeforeTheirPod) {
  Put(1, kClaims);
  runtime_.RunReady();
  std::vector<std::string> created;
  for (const api::WriteRequest& write : client_.writes)
    if (write.verb == Verb::kCreate) created.push_back(write.resource);
  EXPECT_THAT(created, ElementsAre("controllerrevisions", "persistentvolumeclaims", "pods"));
  EXPECT_EQ(Claim("data-web-0")->Parse()["metadata"]["labels"], Json({{"app", "web"}}));
  EXPECT_FALSE(Claim("data-web-0")->Parse()["metadata"].contains("ownerReferences"));
  EXPECT_THAT(Events(),
              ElementsAre("SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web success",
                          "SuccessfulCreate: Create Pod web-0 in StatefulSet web successful"));
}

// Also when the kind is not served: the apiserver answers 404.
TEST_F(StatefulSetRaces, WithoutItsClaimAPodIsNotCreated) {
  client_.write_failures = {std::nullopt, api::UnknownResource(), std::nullopt, api::UnknownResource()};
  Put(1, kClaims);
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), IsEmpty());
  EXPECT_EQ(Events()[0],
            "FailedCreate: Create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: the server "
            "could not find the requested resource");
  EXPECT_EQ(
      Events()[1],
      "FailedCreate: Create Pod web-0 in StatefulSet web failed error: failed to create PVC data-web-0: "
      "the server could not find the requested resource");
  EXPECT_EQ(Status()["observedGeneration"], 1);
  runtime_.Advance(1s);
  EXPECT_THAT(Writes(Verb::kCreate), ElementsAre("web-0"));
}

TEST_F(StatefulSetRaces, AClaimOfAPendingPodIsRestored) {
  Put(1, kClaims);
  runtime_.RunReady();
  SetPhase("web-0", "Pending");
  client_.Remove("persistentvolumeclaims", {"default", "data-web-0"});
  Touch();
  EXPECT_NE(Claim("data-web-0"), nullptr);
}

TEST_F(StatefulSetRaces, AClaimThatIsBeingDeletedKeepsThePodFromBeingCreated) {
  client_.Put("persistentvolumeclaims", {{"metadata",
                                          {{"name", "data-web-0"},
                                           {"namespace", "default"},
                                           {"finalizers", {"x"}},
                                           {"deletionTimestamp", "2026-01-01T00:00:00Z"}}}});
  Put(1, kClaims);
  runtime_.RunReady();
  EXPECT_EQ(Pod("web-0"), nullptr);
  EXPECT_EQ(
      Events()[0],
      "FailedCreate: Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted");
}

class Retention : public StatefulSetRaces {
 protected:
  static Json Spec(const char* when_deleted, const char* when_scaled) {
    Json spec = kClaims;
    spec["persistentVolumeClaimRetentionPolicy"] = {{"whenDeleted", when_deleted},
                                                    {"whenScaled", when_scaled}};
    spec["podManagementPolicy"] = "Parallel";
    return spec;
  }
  // The kinds of the claim's owners.
  std::vector<std::string> Owners(const std::string& claim) {
    std::vector<std::string> kinds;
    for (const OwnerReference& owner : OwnerReferencesOf(*Claim(claim)->Document()))
      kinds.push_back(owner.kind + " " + owner.name);
    return kinds;
  }
};

TEST_F(Retention, TheSetOwnsClaimsThatGoWithIt) {
  Put(1, Spec("Delete", "Retain"));
  runtime_.RunReady();
  EXPECT_THAT(Owners("data-web-0"), ElementsAre("StatefulSet web"));
}

TEST_F(Retention, AChangedPolicyAppliesToExistingClaims) {
  Put(1, Spec("Retain", "Retain"));
  runtime_.RunReady();
  MakeReady("web-0");
  runtime_.RunReady();
  EXPECT_THAT(Owners("data-web-0"), IsEmpty());
  Put(1, Spec("Delete", "Retain"));
  runtime_.RunReady();
  EXPECT_THAT(Owners("data-web-0"), ElementsAre("StatefulSet web"));
  EXPECT_THAT(Events(), Contains("SuccessfulUpdate: Update Pod web-0 in StatefulSet web successful"));
  Put(1, Spec("Retain", "Retain"));
  runtime_.RunReady();
  EXPECT_THAT(Owners("data-web-0"), IsEmpty());
}

TEST_F(Retention, ASurplusPodOwnsItsClaimsBeforeItIsDeleted) {
  Put(2, Spec("Delete", "Delete"));
  runtime_.RunReady();
  EXPECT_THAT(Owners("data-web-1"), ElementsAre("StatefulSet web"));
  Put(1, Spec("Delete", "Delete"));
  runtime_.RunReady();
  EXPECT_EQ(Pod("web-1"), nullptr);
  EXPECT_THAT(Owners("data-web-1"), ElementsAre("Pod web-1"));
  EXPECT_THAT(Owners("data-web-0"), ElementsAre("StatefulSet web"));
}

// The garbage collector will delete the claim of the earlier pod; the new pod must not use it.
TEST_F(Retention, AStaleClaimKeepsThePodFromBeingCreated) {
  Put(2, Spec("Retain", "Delete"));
  runtime_.RunReady();
  Put(1, Spec("Retain", "Delete"));
  runtime_.RunReady();
  EXPECT_THAT(Owners("data-web-1"), ElementsAre("Pod web-1"));
  Put(2, Spec("Retain", "Delete"));
  runtime_.RunReady();
  EXPECT_EQ(Pod("web-1"), nullptr);
  client_.Remove("persistentvolumeclaims", {"default", "data-web-1"});
  Touch();
  EXPECT_NE(Pod("web-1"), nullptr);
  EXPECT_THAT(Owners("data-web-1"), IsEmpty());
}

TEST_F(Retention, AForeignControllerKeepsItsClaim) {
  client_.Put("persistentvolumeclaims", {{"metadata",
                                          {{"name", "data-web-0"},
                                           {"namespace", "default"},
                                           {"ownerReferences",
                                            {{{"apiVersion", "v1"},
                                              {"kind", "ConfigMap"},
                                              {"name", "other"},
                                              {"uid", "u"},
                                              {"controller", true}}}}}}});
  Put(1, Spec("Delete", "Retain"));
  runtime_.RunReady();
  EXPECT_NE(Pod("web-0"), nullptr);
  EXPECT_THAT(Owners("data-web-0"), ElementsAre("ConfigMap other"));
  EXPECT_THAT(Events(), Contains("ConflictingController: PersistentVolumeClaim data-web-0 has a conflicting "
                                 "OwnerReference that acts as a manging controller, the retention policy is "
                                 "ignored for this claim"));
}

}  // namespace
}  // namespace terrarium::controllers
