#include "controllers/garbage_collector/garbage_collector.h"

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using testbed::RunOutcome;
using testbed::Testbed;
using namespace std::chrono_literals;

constexpr const char* kHold = "example.com/hold";

Json Reference(const ObjectPtr& owner, const char* kind = "ConfigMap", const char* api_version = "v1") {
  return {{"apiVersion", api_version},
          {"kind", kind},
          {"name", owner->header().name},
          {"uid", owner->header().uid}};
}

Json Blocking(const ObjectPtr& owner) {
  Json reference = Reference(owner);
  reference["blockOwnerDeletion"] = true;
  return reference;
}

// Owners and dependents are ConfigMaps, which no other controller changes.
class GarbageCollectorTest : public testing::Test {
 protected:
  ObjectPtr Make(const std::string& name, const std::vector<Json>& owners = {},
                 const std::vector<std::string>& finalizers = {}, const std::string& ns = "default") {
    Json metadata = {{"name", name}, {"ownerReferences", owners}, {"finalizers", finalizers}};
    return bed_.Must(bed_.Create("configmaps", ns, {{"metadata", metadata}}));
  }
  void Delete(const std::string& name, std::string_view policy) {
    api::DeleteRequest request;
    request.propagation_policy = policy;
    bed_.Must(bed_.Delete("configmaps", {"default", name}, request));
  }
  void Release(const std::string& name) {
    bed_.Must(bed_.Patch("configmaps", {"default", name},
                         {{"metadata", {{"$deleteFromPrimitiveList/finalizers", Json::array({kHold})}}}}));
  }
  ObjectPtr Get(const std::string& name) { return bed_.Get("configmaps", "default", name); }
  bool Exists(const std::string& name) { return Get(name) != nullptr; }
  Json OwnersOf(const std::string& name) {
    return api::ListAt(*Get(name)->Document(), "metadata", "ownerReferences");
  }
  Json FinalizersOf(const std::string& name) {
    return api::ListAt(*Get(name)->Document(), "metadata", "finalizers");
  }
  void Settle() { EXPECT_EQ(bed_.clock().RunUntilIdle(10min).why, RunOutcome::Why::kIdle); }

  Testbed bed_{{.kubelet = false, .scheduler = false, .nodes = 0}};
};

TEST_F(GarbageCollectorTest, InTheBackgroundTheOwnerIsDeletedImmediatelyAndAChainOfDependentsFollows) {
  ObjectPtr a = Make("a");
  ObjectPtr b = Make("b", {Blocking(a)});
  Make("c", {Blocking(b)});
  Make("other");
  Settle();
  Delete("a", "Background");
  EXPECT_FALSE(Exists("a"));
  Settle();
  EXPECT_FALSE(Exists("b"));
  EXPECT_FALSE(Exists("c"));
  EXPECT_TRUE(Exists("other"));
}

TEST_F(GarbageCollectorTest, InTheForegroundTheOwnerStaysUntilTheLastOfTheChainHasGone) {
  ObjectPtr a = Make("a");
  ObjectPtr b = Make("b", {Blocking(a)});
  Make("c", {Blocking(b)}, {kHold});
  Settle();
  Delete("a", "Foreground");
  Settle();
  EXPECT_EQ(FinalizersOf("a"), Json::array({"foregroundDeletion"}));
  EXPECT_EQ(FinalizersOf("b"), Json::array({"foregroundDeletion"})) << "deleted in the foreground as well";
  EXPECT_TRUE(Get("c")->header().deleting);
  Release("c");
  Settle();
  EXPECT_FALSE(Exists("a"));
  EXPECT_FALSE(Exists("b"));
  EXPECT_FALSE(Exists("c"));
}

TEST_F(GarbageCollectorTest, OnlyDependentsThatBlockAreWaitedFor) {
  ObjectPtr owner = Make("owner");
  Make("dependent", {Reference(owner)}, {kHold});
  Settle();
  Delete("owner", "Foreground");
  Settle();
  EXPECT_FALSE(Exists("owner"));
  EXPECT_TRUE(Get("dependent")->header().deleting) << "it goes all the same";
}

TEST_F(GarbageCollectorTest, ADependentThatStopsBlockingLetsTheOwnerGo) {
  ObjectPtr owner = Make("owner");
  Make("dependent", {Blocking(owner)}, {kHold});
  Settle();
  Delete("owner", "Foreground");
  Settle();
  ASSERT_TRUE(Exists("owner"));
  Json unblocked = {{"uid", owner->header().uid}, {"blockOwnerDeletion", false}};
  bed_.Must(bed_.Patch("configmaps", {"default", "dependent"},
                       {{"metadata", {{"ownerReferences", Json::array({unblocked})}}}}));
  Settle();
  EXPECT_FALSE(Exists("owner"));
}

TEST_F(GarbageCollectorTest, OrphansLoseTheReferenceAndStay) {
  ObjectPtr owner = Make("owner");
  ObjectPtr other = Make("other");
  Make("one", {Blocking(owner)});
  Make("two", {Blocking(owner), Reference(other)});
  Settle();
  Delete("owner", "Orphan");
  EXPECT_EQ(FinalizersOf("owner"), Json::array({"orphan"}));
  Settle();
  EXPECT_FALSE(Exists("owner"));
  EXPECT_EQ(OwnersOf("one"), Json::array());
  EXPECT_EQ(OwnersOf("two"), Json::array({Reference(other)}));
}

TEST_F(GarbageCollectorTest, WhileOneOfTwoOwnersIsLeftOnlyTheReferenceToTheOtherGoes) {
  ObjectPtr a = Make("a");
  ObjectPtr b = Make("b");
  Make("dependent", {Reference(a), Reference(b)});
  Settle();
  Delete("a", "Background");
  Settle();
  EXPECT_EQ(OwnersOf("dependent"), Json::array({Reference(b)}));
  Delete("b", "Background");
  Settle();
  EXPECT_FALSE(Exists("dependent"));
}

TEST_F(GarbageCollectorTest, AnOwnerInTheForegroundDoesNotWaitForADependentThatAnotherOwnerHolds) {
  ObjectPtr a = Make("a");
  ObjectPtr b = Make("b");
  Make("dependent", {Blocking(a), Blocking(b)});
  Settle();
  Delete("a", "Foreground");
  Settle();
  EXPECT_FALSE(Exists("a"));
  EXPECT_EQ(OwnersOf("dependent"), Json::array({Blocking(b)}));
}

TEST_F(GarbageCollectorTest, ADependentOfAnOwnerThatNeverWasIsDeleted) {
  ObjectPtr real = Make("owner");
  Json missing = Reference(real);
  missing["name"] = "nobody";
  missing["uid"] = "00000000-0000-0000-0000-000000000001";
  Make("of-nobody", {missing});
  Json impostor = Reference(real);
  impostor["uid"] = "00000000-0000-0000-0000-000000000002";
  Make("of-an-earlier-one-of-that-name", {impostor});
  Make("of-the-owner", {Reference(real)});
  Settle();
  EXPECT_FALSE(Exists("of-nobody"));
  EXPECT_FALSE(Exists("of-an-earlier-one-of-that-name"));
  EXPECT_TRUE(Exists("of-the-owner"));
}

TEST_F(GarbageCollectorTest, AnOwnerIsFoundByItsUidOnlyUnderItsOwnName) {
  ObjectPtr owner = Make("owner");
  Json misspelt = Reference(owner);
  misspelt["name"] = "owner-misspelt";
  Settle();
  Make("dependent", {misspelt});
  Settle();
  EXPECT_FALSE(Exists("dependent"));
  EXPECT_TRUE(Exists("owner"));
}

TEST_F(GarbageCollectorTest, AnOwnerInAnotherNamespaceIsIgnoredAndReportedByAnEvent) {
  bed_.Must(bed_.Create("namespaces", "", {{"metadata", {{"name", "elsewhere"}}}}));
  ObjectPtr owner = Make("owner", {}, {}, "elsewhere");
  Settle();
  ObjectPtr dependent = Make("dependent", {Reference(owner)});
  Settle();
  EXPECT_FALSE(Exists("dependent"));
  std::vector<ObjectPtr> events = bed_.List("events", "default");
  ASSERT_EQ(events.size(), 1u);
  auto event = events[0]->Document();
  EXPECT_EQ(api::StringAt(*event, "reason"), "OwnerRefInvalidNamespace");
  EXPECT_EQ(api::StringAt(*event, "type"), "Warning");
  EXPECT_EQ(api::StringAt(*event, "source", "component"), "garbage-collector-controller");
  EXPECT_EQ(api::StringAt(*event, "involvedObject", "uid"), dependent->header().uid);
  EXPECT_EQ(api::StringAt(*event, "message"),
            "ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: " + owner->header().uid +
                "] does not exist in namespace \"default\"");
}

TEST_F(GarbageCollectorTest, OwnersWithoutANamespaceMayOwnInEveryNamespace) {
  ObjectPtr node = bed_.Must(bed_.Create("nodes", "", {{"metadata", {{"name", "n1"}}}}));
  Make("of-the-node", {Reference(node, "Node")});
  Settle();
  EXPECT_TRUE(Exists("of-the-node"));
  bed_.Must(bed_.Delete("nodes", {"", "n1"}));
  Settle();
  EXPECT_FALSE(Exists("of-the-node"));
}

TEST_F(GarbageCollectorTest, OwnersThatCannotBeResolvedKeepTheirDependents) {
  ObjectPtr owner = Make("owner");
  Make("of-an-unknown-kind", {Reference(owner, "Gadget", "example.com/v1")});
  Json node = {{"metadata", {{"name", "n1"}, {"ownerReferences", Json::array({Reference(owner)})}}}};
  bed_.Must(bed_.Create("nodes", "", node));
  Settle();
  Delete("owner", "Background");
  Settle();
  EXPECT_TRUE(Exists("of-an-unknown-kind"));
  EXPECT_NE(bed_.Get("nodes", "", "n1"), nullptr);
}

TEST_F(GarbageCollectorTest, ACircleOfOwnersDeletedInTheForegroundEnds) {
  ObjectPtr a = Make("a");
  ObjectPtr b = Make("b", {Blocking(a)});
  ObjectPtr c = Make("c", {Blocking(b)});
  Json closing = {{"metadata", {{"ownerReferences", Json::array({Blocking(c)})}}}};
  bed_.Must(bed_.Patch("configmaps", {"default", "a"}, closing));
  Settle();
  Delete("a", "Foreground");
  Settle();
  EXPECT_FALSE(Exists("a"));
  EXPECT_FALSE(Exists("b"));
  EXPECT_FALSE(Exists("c"));
}

TEST_F(GarbageCollectorTest, TheOrphanFinalizerIsHonouredWhenTheOwnerIsCollected) {
  ObjectPtr a = Make("a");
  ObjectPtr b = Make("b", {Reference(a)}, {"orphan"});
  Make("c", {Reference(b)});
  Settle();
  Delete("a", "Background");
  Settle();
  EXPECT_FALSE(Exists("b"));
  ASSERT_TRUE(Exists("c"));
  EXPECT_EQ(OwnersOf("c"), Json::array());
}

TEST_F(GarbageCollectorTest, TheWritesForManyDependentsAreOneEach) {
  constexpr int kDependents = 500;
  ObjectPtr owner = Make("owner");
  for (int i = 0; i < kDependents; ++i) Make("d" + std::to_string(i), {Blocking(owner)});
  Settle();
  std::int64_t before = Make("mark")->revision();
  Delete("owner", "Foreground");
  Settle();
  EXPECT_FALSE(Exists("owner"));
  EXPECT_FALSE(Exists("d0"));
  // The owner is marked, each dependent is deleted, the owner is deleted, and then the sentinel is created.
  EXPECT_EQ(Make("mark-of-the-end")->revision() - before, 1 + kDependents + 1 + 1);
}

}  // namespace
}  // namespace terrarium::controllers
