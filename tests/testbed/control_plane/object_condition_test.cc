#include "testbed/control_plane/object_condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::testbed {
namespace {

using api::Json;

const Json kPod = Json::parse(R"({
  "metadata": {"name": "web"},
  "spec": {"replicas": 3},
  "status": {"phase": "Running",
             "conditions": [{"type": "Ready", "status": "True"}, {"type": "Gone", "status": "False"}],
             "containerStatuses": [{"name": "web", "ready": true}]}})");

bool Holds(const std::string& text, const Json* object = &kPod) {
  auto condition = ObjectCondition::Parse(text);
  EXPECT_TRUE(condition.ok()) << text;
  return condition.ok() && condition->Holds(object);
}

TEST(ObjectCondition, CreateAndDeleteCheckWhetherTheObjectExists) {
  EXPECT_TRUE(Holds("create"));
  EXPECT_FALSE(Holds("create", nullptr));
  EXPECT_TRUE(Holds("delete", nullptr));
  EXPECT_FALSE(Holds("delete"));
}

TEST(ObjectCondition, ConditionsDefaultToTrue) {
  EXPECT_TRUE(Holds("condition=Ready"));
  EXPECT_TRUE(Holds("condition=ready=true")) << "kubectl wait does not mind the case";
  EXPECT_FALSE(Holds("condition=Ready=False"));
  EXPECT_TRUE(Holds("condition=Gone=False"));
  EXPECT_FALSE(Holds("condition=Missing"));
  EXPECT_FALSE(Holds("condition=Ready", nullptr));
}

TEST(ObjectCondition, PathsFollowMembersIndexesAndFilters) {
  EXPECT_TRUE(Holds("jsonpath={.status.phase}=Running"));
  EXPECT_TRUE(Holds("jsonpath='{.status.phase}'=Running"));
  EXPECT_FALSE(Holds("jsonpath={.status.phase}=Pending"));
  EXPECT_TRUE(Holds("jsonpath={.spec.replicas}=3"));
  EXPECT_TRUE(Holds("jsonpath={.status.containerStatuses[0].ready}=true"));
  EXPECT_FALSE(Holds("jsonpath={.status.containerStatuses[1].ready}=true"));
  EXPECT_TRUE(Holds(R"(jsonpath={.status.conditions[?(@.type=="Ready")].status}=True)"));
  EXPECT_TRUE(Holds("jsonpath={.status.phase}")) << "without a value: it is there";
  EXPECT_FALSE(Holds("jsonpath={.status.reason}"));
}

TEST(ObjectCondition, MalformedTextIsReported) {
  for (const char* text : {"", "ready", "condition=", "condition=Ready=", "jsonpath=.status", "jsonpath={}",
                           "jsonpath={status}", "jsonpath={.a[}", "jsonpath={.a[x]}=1", "jsonpath={..a}"}) {
    auto condition = ObjectCondition::Parse(text);
    ASSERT_FALSE(condition.ok()) << text;
    EXPECT_EQ(condition.status().code, 400);
    EXPECT_THAT(condition.status().message, ::testing::StartsWith("condition \"")) << text;
  }
}

}  // namespace
}  // namespace terrarium::testbed
