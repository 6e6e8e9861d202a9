#include "controllers/garbage_collector/internal/ownership.h"

#include <gtest/gtest.h>

#include "controllers/garbage_collector/internal/absent_owners.h"
#include "controllers/garbage_collector/internal/verdict.h"

namespace terrarium::controllers::garbage_collector {
namespace {

using api::Json;

api::ObjectPtr Stored(const Json& document, bool deleting = false) {
  api::ObjectHeader header = api::ReadHeader(document);
  header.ns = "default";
  header.name = "web";
  header.uid = "u1";
  header.revision = 7;
  header.deleting = deleting;
  return api::Object::Make(header, document);
}

Json Reference(const std::string& uid) {
  return {{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"},      {"name", "rs"}, {"uid", uid},
          {"controller", true},      {"blockOwnerDeletion", true}};
}

TEST(Ownership, ListsOfTheMetadataAreFoundInTheText) {
  struct Case {
    const char* name;
    Json document;
    std::string finalizers;
    std::string owners;
  };
  const Json references = Json::array({Reference("o1")});
  const std::vector<Case> cases = {
      {"neither", {{"metadata", {{"name", "web"}, {"uid", "u1"}}}}, "", ""},
      {"both",
       {{"metadata",
         {{"finalizers", Json::array({"a/b", "orphan"})}, {"ownerReferences", references}, {"uid", "u1"}}}},
       R"(["a/b","orphan"])",
       references.dump()},
      {"of a template, not of the object",
       {{"metadata", {{"name", "web"}}},
        {"spec",
         {{"template",
           {{"metadata", {{"finalizers", Json::array({"x"})}, {"ownerReferences", references}}}}}}}},
       "",
       ""},
      {"in an annotation's text",
       {{"metadata",
         {{"annotations", {{"last", R"({"finalizers":["x"],"ownerReferences":[]})"}}}, {"name", "w"}}}},
       "",
       ""},
      {"after texts with quotes, backslashes and brackets",
       {{"metadata",
         {{"annotations", {{"a", "\\\"]}{["}, {"b", "\\"}}},
          {"deletionGracePeriodSeconds", 0},
          {"finalizers", Json::array({"x"})},
          {"generation", 3}}}},
       R"(["x"])",
       ""},
      {"as the last field", {{"metadata", {{"ownerReferences", references}}}}, "", references.dump()},
      {"no metadata but the revision",
       {{"metadata", Json::object()}, {"spec", {{"finalizers", Json::array({"kubernetes"})}}}},
       "",
       ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    api::ObjectPtr object = Stored(c.document);
    MetadataText text = FindMetadata(object->body());
    EXPECT_EQ(text.finalizers, c.finalizers);
    EXPECT_EQ(text.owner_references, c.owners);
  }
}

TEST(Ownership, ReferencesAndMarksComeFromTheText) {
  Json document = {{"metadata",
                    {{"finalizers", Json::array({"foregroundDeletion"})},
                     {"ownerReferences", Json::array({Reference("o1")})}}}};
  Ownership ownership = OwnershipOf(*Stored(document, true));
  ASSERT_EQ(ownership.owners.size(), 1u);
  EXPECT_EQ(ownership.owners[0].uid, "o1");
  EXPECT_EQ(ownership.owners[0].kind, "ReplicaSet");
  EXPECT_TRUE(ownership.owners[0].block_owner_deletion);
  EXPECT_TRUE(ownership.marks.deleting);
  EXPECT_TRUE(ownership.marks.foreground);
  EXPECT_FALSE(ownership.marks.orphan);
}

TEST(Ownership, AFinalizerIsMatchedWhole) {
  auto marks_of = [](const Json& finalizers) {
    return DeletionMarksOf(*Stored({{"metadata", {{"finalizers", finalizers}}}}));
  };
  DeletionMarks marks = marks_of(Json::array({"example.com/orphan", "foregroundDeletionX"}));
  EXPECT_FALSE(marks.orphan);
  EXPECT_FALSE(marks.foreground);
  marks = marks_of(Json::array({"example.com/orphan", "orphan"}));
  EXPECT_TRUE(marks.orphan);
}

TEST(Ownership, OnlyOwnersFinalizersAndDeletionMakeAnUpdateRelevant) {
  Json plain = {{"metadata", {{"name", "web"}, {"ownerReferences", Json::array({Reference("o1")})}}},
                {"status", {{"phase", "Pending"}}}};
  Json running = plain;
  running["status"]["phase"] = "Running";
  running["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_TRUE(SameOwnership(*Stored(plain), *Stored(running)));
  EXPECT_FALSE(SameOwnership(*Stored(plain), *Stored(running, true)));
  Json other_owner = plain;
  other_owner["metadata"]["ownerReferences"] = Json::array({Reference("o2")});
  EXPECT_FALSE(SameOwnership(*Stored(plain), *Stored(other_owner)));
  Json held = plain;
  held["metadata"]["finalizers"] = Json::array({"a/b"});
  EXPECT_FALSE(SameOwnership(*Stored(plain), *Stored(held)));
}

TEST(Verdict, FollowsWhatIsKnownOfTheOwners) {
  const std::vector<OwnerReference> none;
  const std::vector<OwnerReference> one(1);
  struct Case {
    const char* name;
    ClassifiedReferences references;
    bool has_dependents;
    Verdict verdict;
  };
  const std::vector<Case> cases = {
      {"all owners exist", {one, none, none}, true, Verdict::kKeep},
      {"one of two is gone", {one, one, none}, false, Verdict::kDropReferences},
      {"one of two waits", {one, none, one}, true, Verdict::kDropReferences},
      {"all are gone", {none, one, none}, true, Verdict::kDelete},
      {"the owner waits and there is nothing below", {none, none, one}, false, Verdict::kDelete},
      {"the owner waits and there is something below", {none, none, one}, true, Verdict::kDeleteInForeground},
      {"one is gone and one waits", {none, one, one}, true, Verdict::kDeleteInForeground},
  };
  for (const Case& c : cases) EXPECT_EQ(Judge(c.references, c.has_dependents), c.verdict) << c.name;
}

TEST(Verdict, AnEarlierPropagationPolicyIsHonoured) {
  EXPECT_EQ(PropagationOf({.deleting = false, .orphan = false, .foreground = false}), "Background");
  EXPECT_EQ(PropagationOf({.deleting = false, .orphan = false, .foreground = true}), "Foreground");
  EXPECT_EQ(PropagationOf({.deleting = false, .orphan = true, .foreground = true}), "Orphan");
}

TEST(AbsentOwners, EvictTheLeastRecentlyUsed) {
  auto owner = [](const char* uid) { return Identity{"Pod", "v1", "default", "web", uid}; };
  AbsentOwners absent(2);
  absent.Add(owner("a"));
  absent.Add(owner("b"));
  EXPECT_TRUE(absent.Has(owner("a")));
  absent.Add(owner("c"));
  EXPECT_TRUE(absent.Has(owner("a")));
  EXPECT_FALSE(absent.Has(owner("b")));
  EXPECT_TRUE(absent.Has(owner("c")));
  Identity elsewhere = owner("a");
  elsewhere.ns = "other";
  EXPECT_FALSE(absent.Has(elsewhere));
}

}  // namespace
}  // namespace terrarium::controllers::garbage_collector
