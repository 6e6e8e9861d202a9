#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/validation/metadata.h"
#include "tests/apiserver/pod_fixture.h"

namespace terrarium::apiserver {
namespace {

using api::Path;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Texts;

Json Meta(const Json& patch = Json::object()) {
  Json metadata = {{"name", "web"}, {"namespace", "ns"}};
  metadata.merge_patch(patch);
  return metadata;
}

std::vector<std::string> Create(const Json& metadata) {
  return Texts(ValidateObjectMeta(metadata, true, NameIsDnsSubdomain, Path("metadata")));
}

std::vector<std::string> Update(const Json& metadata, const Json& old) {
  return Texts(ValidateObjectMetaUpdate(metadata, old, Path("metadata")));
}

TEST(ObjectMeta, PlainMetadataIsFine) {
  EXPECT_THAT(Create(Meta({{"labels", {{"app", "x"}, {"example.com/Tier", ""}}},
                           {"annotations", {{"Example.com/Note", "any text, of any form"}}},
                           {"finalizers", {"example.com/hold", "orphan"}},
                           {"generateName", "web-"}})),
              IsEmpty());
}

TEST(ObjectMeta, NameIsRequired) {
  EXPECT_THAT(Create({{"namespace", "ns"}}),
              ElementsAre("metadata.name: Required value: name or generateName is required"));
}

TEST(ObjectMeta, GenerateNameIsCheckedAsTheBeginningOfAName) {
  EXPECT_THAT(Create(Meta({{"generateName", "web-"}})), IsEmpty());
  EXPECT_EQ(Create(Meta({{"generateName", "Web-"}})).size(), 1u);
  EXPECT_THAT(NameIsDnsLabel("a.b-", true), ElementsAre("must not contain dots"));
}

TEST(ObjectMeta, NamespaceFollowsTheScope) {
  EXPECT_THAT(Create({{"name", "web"}}), ElementsAre("metadata.namespace: Required value"));
  EXPECT_THAT(Texts(ValidateObjectMeta(Meta(), false, NameIsDnsSubdomain, Path("metadata"))),
              ElementsAre("metadata.namespace: Forbidden: not allowed on this type"));
}

TEST(ObjectMeta, LabelsAreKeysAndShortValues) {
  const auto errors = Create(Meta({{"labels", {{"a b", "x"}, {"c", "not ok"}}}}));
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_THAT(errors[0],
              ::testing::StartsWith("metadata.labels: Invalid value: \"a b\": name part must consist of"));
  EXPECT_THAT(errors[1], ::testing::StartsWith(
                             "metadata.labels: Invalid value: \"not ok\": a valid label must be an empty"));
  EXPECT_THAT(Create(Meta({{"labels", {{"c", std::string(64, 'a')}}}})).at(0),
              ::testing::EndsWith(": must be no more than 63 bytes"));
}

TEST(ObjectMeta, AnnotationsTogetherStayBelowTheirLimit) {
  EXPECT_THAT(Create(Meta({{"annotations", {{"a", std::string(256 * 1024 - 1, 'x')}}}})), IsEmpty());
  EXPECT_THAT(Create(Meta({{"annotations", {{"a", std::string(256 * 1024, 'x')}}}})),
              ElementsAre("metadata.annotations: Too long: may not be more than 262144 bytes"));
}

TEST(ObjectMeta, OwnerReferencesAreComplete) {
  EXPECT_THAT(
      Create(Meta({{"ownerReferences", Json::array({Json{{"apiVersion", "apps/"}}})}})),
      ElementsAre("metadata.ownerReferences.apiVersion: Invalid value: \"apps/\": version must not be empty",
                  "metadata.ownerReferences.kind: Invalid value: \"\": must not be empty",
                  "metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
                  "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"));
}

TEST(ObjectMeta, OnlyOneOwnerIsTheController) {
  const Json owner = {
      {"apiVersion", "v1"}, {"kind", "Node"}, {"name", "n"}, {"uid", "u"}, {"controller", true}};
  EXPECT_THAT(Create(Meta({{"ownerReferences", Json::array({owner})}})), IsEmpty());
  const auto errors = Create(Meta({{"ownerReferences", Json::array({owner, owner})}}));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0],
              ::testing::EndsWith("Only one reference can have Controller set to true. Found \"true\" in "
                                  "references for Node/n and Node/n"));
}

TEST(ObjectMeta, FinalizersHaveADomainOrAreStandard) {
  EXPECT_THAT(
      Create(Meta({{"finalizers", {"mine"}}})),
      ElementsAre(
          "metadata.finalizers[0]: Invalid value: \"mine\": name is neither a standard finalizer name "
          "nor is it fully qualified"));
  EXPECT_THAT(
      Create(Meta({{"finalizers", {"orphan", "foregroundDeletion"}}})),
      ElementsAre(
          "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and "
          "foregroundDeletion cannot be both set"));
}

TEST(ObjectMetaUpdate, IdentityIsImmutable) {
  const Json old =
      Meta({{"uid", "u"}, {"resourceVersion", "4"}, {"creationTimestamp", "2026-01-01T00:00:00Z"}});
  EXPECT_THAT(Update(old, old), IsEmpty());
  Json changed = old;
  changed["uid"] = "zz";
  changed["namespace"] = "other";
  changed["creationTimestamp"] = "2026-01-01T00:00:01Z";
  EXPECT_THAT(
      Update(changed, old),
      ElementsAre("metadata.namespace: Invalid value: \"other\": field is immutable",
                  "metadata.uid: Invalid value: \"zz\": field is immutable",
                  "metadata.creationTimestamp: Invalid value: \"2026-01-01T00:00:01Z\": field is immutable"));
}

TEST(ObjectMetaUpdate, ADeletedObjectTakesNoNewFinalizers) {
  const Json old = Meta({{"resourceVersion", "4"},
                         {"deletionTimestamp", "2026-01-01T00:00:00Z"},
                         {"finalizers", {"example.com/hold"}}});
  Json changed = old;
  changed["finalizers"] = {"example.com/hold", "example.com/more"};
  EXPECT_THAT(
      Update(changed, old),
      ElementsAre("metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
                  "deleted, found new finalizers []string{\"example.com/more\"}"));
  changed["finalizers"] = Json::array();
  EXPECT_THAT(Update(changed, old), IsEmpty());
}

TEST(ObjectMetaUpdate, NeedsARevisionAndKeepsTheGeneration) {
  const Json old = Meta({{"resourceVersion", "4"}, {"generation", 3}});
  Json changed = old;
  changed["resourceVersion"] = "";
  changed["generation"] = 2;
  EXPECT_THAT(Update(changed, old),
              ElementsAre("metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
                          "metadata.generation: Invalid value: 2: must not be decremented"));
}

TEST(LabelSelector, OperatorsDecideAboutValues) {
  const Json selector = {
      {"matchExpressions", Json::array({Json{{"key", "a"}, {"operator", "In"}},
                                        Json{{"key", "a"}, {"operator", "Exists"}, {"values", {"x"}}},
                                        Json{{"key", "a"}, {"operator", "Like"}}})}};
  EXPECT_THAT(Texts(ValidateLabelSelector(selector, {}, Path("spec").Child("selector"))),
              ElementsAre("spec.selector.matchExpressions[0].values: Required value: must be specified when "
                          "`operator` is 'In' "
                          "or 'NotIn'",
                          "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when "
                          "`operator` is 'Exists' "
                          "or 'DoesNotExist'",
                          "spec.selector.matchExpressions[2].operator: Invalid value: \"Like\": not a valid "
                          "selector operator"));
}

TEST(LabelSelector, InvalidValuesMayBeLet) {
  const Json selector = {
      {"matchExpressions", Json::array({Json{{"key", "a"}, {"operator", "In"}, {"values", {"-"}}}})}};
  EXPECT_EQ(ValidateLabelSelector(selector, {}, Path("s")).size(), 1u);
  EXPECT_THAT(Texts(ValidateLabelSelector(selector, {.allow_invalid_label_values = true}, Path("s"))),
              IsEmpty());
}

}  // namespace
}  // namespace terrarium::apiserver
