#include "controllers/deployment/internal/pod_template.h"

#include <set>

#include <gtest/gtest.h>

namespace terrarium::controllers::deployment {
namespace {

using api::Json;

Json Template(const Json& metadata, const std::string& image = "web:1") {
  return {{"metadata", metadata}, {"spec", {{"containers", {{{"name", "c"}, {"image", image}}}}}}};
}

TEST(TemplateHash, IsMadeOfLettersThatSpellNoWords) {
  std::string hash = TemplateHash(Template({{"labels", {{"app", "web"}}}}), std::nullopt);
  EXPECT_GE(hash.size(), 8u);
  EXPECT_LE(hash.size(), 10u);
  EXPECT_EQ(hash.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
}

TEST(TemplateHash, IsTheSameForTheSameTemplateAndAnotherForAnother) {
  Json labels = {{"labels", {{"app", "web"}}}};
  EXPECT_EQ(TemplateHash(Template(labels), std::nullopt), TemplateHash(Template(labels), std::nullopt));
  EXPECT_NE(TemplateHash(Template(labels), std::nullopt),
            TemplateHash(Template(labels, "web:2"), std::nullopt));
}

TEST(TemplateHash, ChangesWithEveryCollision) {
  Json pod_template = Template({{"labels", {{"app", "web"}}}});
  std::set<std::string> hashes = {TemplateHash(pod_template, std::nullopt)};
  for (int count = 0; count < 300; ++count) hashes.insert(TemplateHash(pod_template, count));
  EXPECT_EQ(hashes.size(), 301u);
}

// TestGenerateReplicaSetName of Kubernetes.
TEST(ReplicaSetName, IsCutWhereItWouldBeTooLong) {
  EXPECT_EQ(ReplicaSetName("web", "55dd457988"), "web-55dd457988");
  std::string name = ReplicaSetName(std::string(253, 'a'), "55dd457988");
  EXPECT_EQ(name, std::string(242, 'a') + "-55dd457988");
  EXPECT_EQ(name.size(), 253u);
}

// TestEqualIgnoreHash of Kubernetes.
TEST(SameTemplate, ComparesAllButTheHashLabel) {
  const Json plain = Template({{"labels", {{"app", "web"}}}});
  const Json hashed = Template({{"labels", {{"app", "web"}, {"pod-template-hash", "value-1"}}}});
  const Json hashed_otherwise = Template({{"labels", {{"app", "web"}, {"pod-template-hash", "value-2"}}}});
  EXPECT_TRUE(SameTemplate(plain, hashed));
  EXPECT_TRUE(SameTemplate(hashed, hashed_otherwise));
  EXPECT_TRUE(
      SameTemplate(Template(Json::object()), Template({{"labels", {{"pod-template-hash", "value-1"}}}})));
  EXPECT_TRUE(
      SameTemplate(Template({{"labels", {{"app", "web"}}}, {"annotations", Json::object()}}), hashed));
  EXPECT_FALSE(SameTemplate(plain, Template({{"labels", {{"app", "api"}}}})));
  EXPECT_FALSE(SameTemplate(plain, Template({{"labels", {{"app", "web"}, {"tier", "x"}}}})));
  EXPECT_FALSE(SameTemplate(plain, Template({{"labels", {{"app", "web"}}}, {"annotations", {{"a", "b"}}}})));
  EXPECT_FALSE(SameTemplate(plain, Template({{"labels", {{"app", "web"}}}}, "web:2")));
}

TEST(SameTemplate, ALabelIsNotTakenForAnAnnotation) {
  EXPECT_FALSE(SameTemplate(Template({{"labels", {{"a", "b"}}}}), Template({{"annotations", {{"a", "b"}}}})));
}

TEST(TemplateDigest, AgreesWithSameTemplate) {
  const Json plain = Template({{"labels", {{"app", "web"}}}});
  const Json hashed = Template({{"labels", {{"app", "web"}, {"pod-template-hash", "value-1"}}}});
  EXPECT_EQ(TemplateDigest(plain), TemplateDigest(hashed));
  EXPECT_NE(TemplateDigest(plain), TemplateDigest(Template({{"labels", {{"app", "web"}}}}, "web:2")));
}

TEST(WithoutHash, LeavesTheRestOfTheTemplate) {
  const Json hashed = Template({{"labels", {{"app", "web"}, {"pod-template-hash", "value-1"}}}});
  EXPECT_EQ(WithoutHash(hashed), Template({{"labels", {{"app", "web"}}}}));
  EXPECT_EQ(WithoutHash(Json::object()), Json::object());
}

}  // namespace
}  // namespace terrarium::controllers::deployment
