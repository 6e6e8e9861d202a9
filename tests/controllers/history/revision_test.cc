#include "controllers/history/revision.h"

#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::history {
namespace {

using api::Json;
using controllers_testing::MakeObject;

Json Owner(const Json& pod_template) {
  return {{"metadata", {{"name", "web"}, {"namespace", "default"}, {"uid", "u1"}}},
          {"spec", {{"template", pod_template}}}};
}

Json Template(const std::string& image = "web:1") {
  return {{"metadata", {{"labels", {{"app", "web"}}}}},
          {"spec", {{"containers", {{{"name", "c"}, {"image", image}}}}}}};
}

ObjectPtr Revision(const std::string& name, std::int64_t number, const std::string& created = "",
                   const Json& data = Json::object()) {
  Json document = {
      {"metadata", {{"name", name}, {"namespace", "default"}}}, {"data", data}, {"revision", number}};
  if (!created.empty()) document["metadata"]["creationTimestamp"] = created;
  return MakeObject(document);
}

std::string Names(const std::vector<ObjectPtr>& revisions) {
  std::string names;
  for (const ObjectPtr& revision : revisions) names += (names.empty() ? "" : " ") + revision->header().name;
  return names;
}

TEST(TemplateData, ReplacesTheWholeTemplate) {
  const Json data = TemplateData(Owner(Template()));
  EXPECT_EQ(data, Json::parse(R"({"spec": {"template": {
      "$patch": "replace", "metadata": {"labels": {"app": "web"}},
      "spec": {"containers": [{"name": "c", "image": "web:1"}]}}}})"));
  EXPECT_EQ(TemplateOf(*Revision("web-1", 1, "", data)), Template());
}

// The expected texts are the hashes that Kubernetes' HashControllerRevision gives for these bytes.
TEST(DataHash, IsThatOfKubernetes) {
  const Json data = TemplateData(Owner(Template()));
  EXPECT_EQ(DataHash(data, std::nullopt), "79684d5546");
  EXPECT_EQ(DataHash(data, 0), "646bb59bc8");
  EXPECT_EQ(DataHash(data, 1), "646bb59bc9");
}

TEST(DataHash, EscapesWhatGoEscapes) {
  Json data = TemplateData(Owner({{"metadata", {{"annotations", {{"a", "<b> & c\xe2\x80\xa8"}}}}}}));
  EXPECT_EQ(DataHash(data, std::nullopt), "76c975958c");
}

TEST(RevisionName, IsCutWhereItWouldBeTooLong) {
  EXPECT_EQ(RevisionName("web", "79684d5546"), "web-79684d5546");
  EXPECT_EQ(RevisionName(std::string(253, 'a'), "79684d5546"), std::string(223, 'a') + "-79684d5546");
}

TEST(NewRevision, HasTheTemplatesLabelsAndTheOwnersAnnotations) {
  Json document = Owner(Template());
  document["metadata"]["annotations"] = {{"kubernetes.io/change-cause", "first"}};
  Json revision = NewRevision(*MakeObject(document), document, "StatefulSet", TemplateData(document), 3);
  NameByData(revision, "web", 0);
  EXPECT_EQ(revision["metadata"], Json::parse(R"({
      "name": "web-646bb59bc8", "namespace": "default",
      "labels": {"app": "web", "controller.kubernetes.io/hash": "646bb59bc8"},
      "annotations": {"kubernetes.io/change-cause": "first"},
      "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u1",
                           "controller": true, "blockOwnerDeletion": true}]})"));
  EXPECT_EQ(revision["revision"], 3);
  EXPECT_EQ(revision["data"], TemplateData(document));
  NameByData(revision, "web", 1);
  EXPECT_EQ(revision["metadata"]["name"], "web-646bb59bc9");
  EXPECT_EQ(revision["metadata"]["labels"][std::string(kHashLabel)], "646bb59bc8");
}

// TestSortControllerRevisions of Kubernetes.
TEST(Sort, IsByNumberThenCreationThenName) {
  const std::string early = "2026-01-01T00:00:00Z", late = "2026-01-01T00:00:01Z";
  struct Case {
    std::vector<ObjectPtr> given;
    std::string sorted;
  };
  const Case cases[] = {
      {{Revision("c", 3), Revision("a", 1), Revision("b", 2)}, "a b c"},
      {{}, ""},
      {{Revision("b", 2, late), Revision("a", 2, early), Revision("c", 1, late)}, "c a b"},
      {{Revision("b", 2, early), Revision("a", 2, early)}, "a b"},
      {{Revision("a", 2, late), Revision("b", 2, early)}, "b a"},
  };
  for (Case c : cases) {
    Sort(c.given);
    EXPECT_EQ(Names(c.given), c.sorted);
  }
}

TEST(NextNumber, IsOneMoreThanTheLargest) {
  EXPECT_EQ(NextNumber({}), 1);
  EXPECT_EQ(NextNumber({Revision("a", 4), Revision("b", 2)}), 5);
}

TEST(FindEqual, ComparesTheData) {
  const Json one = TemplateData(Owner(Template())), two = TemplateData(Owner(Template("web:2")));
  std::vector<ObjectPtr> all = {Revision("a", 1, "", one), Revision("b", 2, "", two),
                                Revision("c", 3, "", one)};
  EXPECT_EQ(Names(FindEqual(all, one)), "a c");
  EXPECT_EQ(Names(FindEqual(all, two)), "b");
  EXPECT_EQ(Names(FindEqual(all, Json::object())), "");
}

TEST(OldestUnused, SkipsWhatIsInUse) {
  std::vector<ObjectPtr> all = {Revision("a", 1), Revision("b", 2), Revision("c", 3), Revision("d", 4)};
  auto in_use = [](const api::Object& revision) { return revision.header().name == "b"; };
  EXPECT_EQ(Names(OldestUnused(all, 0, in_use)), "");
  EXPECT_EQ(Names(OldestUnused(all, 2, in_use)), "a c");
  EXPECT_EQ(Names(OldestUnused(all, 9, in_use)), "a c d");
}

}  // namespace
}  // namespace terrarium::controllers::history
