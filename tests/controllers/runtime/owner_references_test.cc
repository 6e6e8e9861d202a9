#include "controllers/runtime/owner_references.h"

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectName;
using api::ObjectPtr;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using controllers_testing::MakeObject;

Json Reference(const std::string& uid, bool controller) {
  return {{"apiVersion", "apps/v1"},
          {"kind", "ReplicaSet"},
          {"name", "rs"},
          {"uid", uid},
          {"controller", controller}};
}

TEST(OwnerReferences, AreReadFromTheDocument) {
  Json document = {{"metadata", {{"ownerReferences", {Reference("u1", false), Reference("u2", true)}}}}};
  document["metadata"]["ownerReferences"][1]["blockOwnerDeletion"] = true;
  std::vector<OwnerReference> references = OwnerReferencesOf(document);
  ASSERT_EQ(references.size(), 2u);
  EXPECT_EQ(references[0].uid, "u1");
  EXPECT_FALSE(references[0].controller);
  EXPECT_EQ(references[1].api_version, "apps/v1");
  EXPECT_EQ(references[1].kind, "ReplicaSet");
  EXPECT_EQ(references[1].name, "rs");
  EXPECT_TRUE(references[1].controller);
  EXPECT_TRUE(references[1].block_owner_deletion);
  EXPECT_TRUE(OwnerReferencesOf(Json::object()).empty());
}

TEST(OwnerReferences, TheControllerIsTheOwnerMarkedAsOne) {
  Json document = {{"metadata", {{"ownerReferences", {Reference("u1", false)}}}}};
  EXPECT_FALSE(ControllerOf(document));
  document["metadata"]["ownerReferences"].push_back(Reference("u2", true));
  ASSERT_TRUE(ControllerOf(document));
  EXPECT_EQ(ControllerOf(document)->uid, "u2");
}

TEST(OwnerReferences, ControllerReferenceNamesTheController) {
  ObjectPtr owner = MakeObject({{"metadata", {{"name", "web"}, {"namespace", "default"}, {"uid", "u1"}}}});
  EXPECT_EQ(ControllerReference(*owner, "apps/v1", "ReplicaSet"), Json::parse(R"({
    "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u1",
    "controller": true, "blockOwnerDeletion": true})"));
}

class ClaimObjectsTest : public ::testing::Test {
 protected:
  using Claimed = api::Result<std::vector<ObjectPtr>>;

  ClaimObjectsTest() { owner_ = client_.Put("replicasets", Owner()); }

  static Json Owner() { return {{"metadata", {{"name", "rs"}, {"namespace", "default"}}}}; }
  ObjectPtr Pod(const std::string& name, const std::string& app, const std::string& owner_uid = "",
                bool deleting = false) {
    Json pod = {{"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{"app", app}}}}}};
    if (!owner_uid.empty()) pod["metadata"]["ownerReferences"] = {Reference(owner_uid, true)};
    if (deleting) pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    return client_.Put("pods", pod);
  }
  const std::string& uid() const { return owner_->header().uid; }

  static api::Task<void> Store(api::Task<Claimed> claiming, std::optional<Claimed>* claimed) {
    Claimed done = co_await std::move(claiming);
    claimed->emplace(std::move(done));
  }
  Claimed Claim(std::vector<ObjectPtr> candidates) {
    Claimant claimant{.owner = owner_,
                      .api_version = "apps/v1",
                      .kind = "ReplicaSet",
                      .owner_resource = "replicasets",
                      .selector = *api::LabelSelector::Parse("app=web"),
                      .finalizer = finalizer_,
                      .belongs = belongs_};
    std::optional<Claimed> claimed;
    api::TaskScope scope;
    scope.Spawn(Store(ClaimObjects(client_, claimant, "pods", std::move(candidates)), &claimed));
    runtime_.RunReady();
    return *claimed;
  }
  static std::string Names(const Claimed& claimed) {
    if (!claimed) return "failed: " + claimed.status().message;
    std::string names;
    for (const ObjectPtr& object : *claimed) names += (names.empty() ? "" : " ") + object->header().name;
    return names;
  }
  Json References(const std::string& pod) {
    Json document = client_.Find("pods", {"default", pod})->Parse();
    return document["metadata"].value("ownerReferences", Json::array());
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  ObjectPtr owner_;
  std::string finalizer_;
  std::function<bool(const api::Object&)> belongs_;
};

TEST_F(ClaimObjectsTest, WhatDoesNotBelongIsReleasedAndNotAdopted) {
  belongs_ = [](const api::Object& pod) { return pod.header().name != "b" && pod.header().name != "d"; };
  EXPECT_EQ(Names(Claim({Pod("a", "web", uid()), Pod("b", "web", uid()), Pod("c", "web"), Pod("d", "web")})),
            "a c");
  EXPECT_TRUE(References("b").empty());
  EXPECT_TRUE(References("d").empty());
}

TEST_F(ClaimObjectsTest, KeepsWhatItControlsAndMatchesWithoutAWrite) {
  EXPECT_EQ(Names(Claim({Pod("a", "web", uid()), Pod("b", "web", uid(), true)})), "a b");
  EXPECT_TRUE(client_.writes.empty());
  EXPECT_EQ(client_.gets, 0);
}

TEST_F(ClaimObjectsTest, AdoptsMatchingOrphansWithTheirUidInThePatch) {
  ObjectPtr orphan = Pod("a", "web");
  EXPECT_EQ(Names(Claim({orphan, Pod("b", "db"), Pod("c", "web")})), "a c");
  ASSERT_EQ(client_.writes.size(), 2u);
  EXPECT_EQ(client_.writes[0].resource, "pods");
  EXPECT_EQ(client_.writes[0].patch, api::PatchKind::kStrategic);
  Json reference = ControllerReference(*owner_, "apps/v1", "ReplicaSet");
  EXPECT_EQ(
      client_.writes[0].body,
      (Json{{"metadata", {{"uid", orphan->header().uid}, {"ownerReferences", Json::array({reference})}}}}));
  EXPECT_EQ(References("a"), Json::array({reference}));
  EXPECT_EQ(References("b"), Json::array());
  EXPECT_EQ(client_.gets, 1) << "the owner is read once, before the first";
}

TEST_F(ClaimObjectsTest, AdoptionKeepsOwnersThatAreNotControllers) {
  Json pod = {{"metadata", {{"name", "a"}, {"namespace", "default"}, {"labels", {{"app", "web"}}}}}};
  pod["metadata"]["ownerReferences"] = {Reference("friend", false)};
  EXPECT_EQ(Names(Claim({client_.Put("pods", pod)})), "a");
  EXPECT_EQ(References("a").size(), 2u);
}

TEST_F(ClaimObjectsTest, ReleasesWhatItControlsAndNoLongerMatches) {
  ObjectPtr stray = Pod("a", "db", uid());
  EXPECT_EQ(Names(Claim({stray, Pod("b", "web", uid())})), "b");
  ASSERT_EQ(client_.writes.size(), 1u);
  EXPECT_EQ(client_.writes[0].body,
            (Json{{"metadata",
                   {{"uid", stray->header().uid},
                    {"ownerReferences", {{{"$patch", "delete"}, {"uid", uid()}}}}}}}));
  EXPECT_EQ(References("a"), Json::array());
  EXPECT_EQ(client_.gets, 0) << "a release needs no live read";
}

TEST_F(ClaimObjectsTest, AFinalizerGoesOnWithAdoptionAndComesOffWithRelease) {
  finalizer_ = "example.com/tracking";
  EXPECT_EQ(Names(Claim({Pod("a", "web")})), "a");
  Json adopted = client_.Find("pods", {"default", "a"})->Parse();
  EXPECT_EQ(adopted["metadata"]["finalizers"], Json::array({"example.com/tracking"}));
  adopted["metadata"]["labels"]["app"] = "db";
  EXPECT_EQ(Names(Claim({client_.Put("pods", adopted)})), "");
  Json released = client_.Find("pods", {"default", "a"})->Parse();
  EXPECT_EQ(released["metadata"].value("finalizers", Json::array()), Json::array());
  EXPECT_EQ(References("a"), Json::array());
}

TEST_F(ClaimObjectsTest, LeavesAloneWhatOthersControl) {
  EXPECT_EQ(Names(Claim({Pod("a", "web", "other"), Pod("b", "db", "other")})), "");
  EXPECT_TRUE(client_.writes.empty());
}

TEST_F(ClaimObjectsTest, DoesNotAdoptWhatIsBeingDeleted) {
  EXPECT_EQ(Names(Claim({Pod("a", "web", "", true)})), "");
  EXPECT_TRUE(client_.writes.empty());
}

TEST_F(ClaimObjectsTest, OwnerBeingDeletedNeitherAdoptsNorReleases) {
  Json owner = Owner();
  owner["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  owner_ = client_.Put("replicasets", owner);
  EXPECT_EQ(Names(Claim({Pod("a", "web"), Pod("b", "db", uid()), Pod("c", "web", uid())})), "c");
  EXPECT_TRUE(client_.writes.empty());
}

TEST_F(ClaimObjectsTest, OwnerThatIsReallyBeingDeletedAdoptsNothing) {
  Json owner = Owner();
  owner["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  client_.Put("replicasets", owner);
  Claimed claimed = Claim({Pod("a", "web")});
  ASSERT_FALSE(claimed);
  EXPECT_TRUE(claimed.status().Is(api::reason::kConflict));
  EXPECT_NE(claimed.status().message.find("default/rs has just been deleted"), std::string::npos);
  EXPECT_TRUE(client_.writes.empty());
}

TEST_F(ClaimObjectsTest, OwnerThatIsGoneOrReplacedAdoptsNothing) {
  client_.Remove("replicasets", {"default", "rs"});
  Claimed gone = Claim({Pod("a", "web")});
  ASSERT_FALSE(gone);
  EXPECT_TRUE(gone.status().Is(api::reason::kConflict));
  client_.Put("replicasets", Owner());
  Claimed replaced = Claim({Pod("a", "web")});
  ASSERT_FALSE(replaced);
  EXPECT_NE(replaced.status().message.find("original ReplicaSet default/rs is gone: got uid "),
            std::string::npos);
  EXPECT_TRUE(client_.writes.empty());
}

TEST_F(ClaimObjectsTest, SkipsWhatIsGoneMeanwhile) {
  ObjectPtr a = Pod("a", "web");
  ObjectPtr b = Pod("b", "db", uid());
  client_.Remove("pods", {"default", "a"});
  client_.Remove("pods", {"default", "b"});
  EXPECT_EQ(Names(Claim({a, b, Pod("c", "web")})), "c");
}

TEST_F(ClaimObjectsTest, ReleaseRefusedAsInvalidWasDoneByAnotherClient) {
  client_.write_failures.push_back(api::Invalid({.group = "", .kind = "Pod"}, "a", {}));
  EXPECT_EQ(Names(Claim({Pod("a", "db", uid())})), "");
}

TEST_F(ClaimObjectsTest, AfterAFailureTheRestIsClaimedAndTheFirstFailureIsReturned) {
  client_.write_failures = {std::nullopt, api::InternalError("one"), api::InternalError("two"), std::nullopt};
  Claimed claimed = Claim({Pod("a", "web"), Pod("b", "web"), Pod("c", "db", uid()), Pod("d", "web")});
  EXPECT_EQ(Names(claimed), "failed: Internal error occurred: one");
  EXPECT_EQ(client_.writes.size(), 4u);
  EXPECT_EQ(References("d").size(), 1u);
}

TEST_F(ClaimObjectsTest, AdoptionThatIsRefusedAsInvalidIsAFailure) {
  client_.write_failures.push_back(api::Invalid({.group = "", .kind = "Pod"}, "a", {}));
  EXPECT_FALSE(Claim({Pod("a", "web")})) << "it has another controller already";
}

}  // namespace
}  // namespace terrarium::controllers
