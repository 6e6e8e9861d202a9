#include "controllers/deployment/internal/conditions.h"

#include <gtest/gtest.h>

#include "api/json_access.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::StringAt;
using namespace std::chrono_literals;

constexpr api::Time kThen{std::chrono::seconds(1'767'225'600)};  // 2026-01-01T00:00:00Z

Json Available(bool yes, api::Time now) {
  return MakeCondition({kAvailable, yes ? "True" : "False", yes ? "Yes" : "No", "text"}, now);
}

std::string Order(const Json& conditions) {
  std::string order;
  for (const Json& condition : conditions) order += std::string(StringAt(condition, "type")) + " ";
  return order;
}

TEST(DeploymentConditions, WhatChangesMovesToTheEnd) {
  Json conditions = Json::array();
  SetCondition(conditions, Available(false, kThen));
  SetCondition(conditions, MakeCondition({kProgressing, "True", kSetCreated, ""}, kThen));
  EXPECT_EQ(Order(conditions), "Available Progressing ");
  SetCondition(conditions, Available(true, kThen + 5s));
  EXPECT_EQ(Order(conditions), "Progressing Available ");
}

// TestSetCondition of Kubernetes.
TEST(DeploymentConditions, TheSameStatusAndReasonChangeNothing) {
  Json conditions = Json::array({Available(true, kThen)});
  Json again = MakeCondition({kAvailable, "True", "Yes", "another text"}, kThen + 5s);
  const Json before = conditions;
  SetCondition(conditions, again);
  EXPECT_EQ(conditions, before);
}

TEST(DeploymentConditions, TheTransitionTimeMovesWithTheStatus) {
  Json conditions = Json::array({Available(true, kThen)});
  SetCondition(conditions, MakeCondition({kAvailable, "True", "Because", "text"}, kThen + 5s));
  EXPECT_EQ(conditions[0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(conditions[0]["lastUpdateTime"], "2026-01-01T00:00:05Z");
  SetCondition(conditions, Available(false, kThen + 9s));
  EXPECT_EQ(conditions[0]["lastTransitionTime"], "2026-01-01T00:00:09Z");
}

TEST(DeploymentConditions, PauseAndResumeAreReportedOnce) {
  Json conditions = Json::array();
  NotePause(false, kThen, conditions);
  EXPECT_EQ(conditions, Json::array());
  NotePause(true, kThen, conditions);
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(StringAt(conditions[0], "reason"), "DeploymentPaused");
  EXPECT_EQ(StringAt(conditions[0], "message"), "Deployment is paused");
  EXPECT_EQ(StringAt(conditions[0], "status"), "Unknown");
  const Json paused = conditions;
  NotePause(true, kThen + 5s, conditions);
  EXPECT_EQ(conditions, paused);
  NotePause(false, kThen + 9s, conditions);
  EXPECT_EQ(StringAt(conditions[0], "reason"), "DeploymentResumed");
  EXPECT_EQ(StringAt(conditions[0], "message"), "Deployment is resumed");
  EXPECT_EQ(StringAt(conditions[0], "lastUpdateTime"), "2026-01-01T00:00:09Z")
      << "the deadline counts from here";
}

TEST(DeploymentConditions, APauseDoesNotHideThatTheDeadlineHasPassed) {
  Json conditions = Json::array({MakeCondition({kProgressing, "False", kDeadlineExceeded, ""}, kThen)});
  const Json before = conditions;
  NotePause(true, kThen + 5s, conditions);
  EXPECT_EQ(conditions, before);
}

TEST(DeploymentConditions, AFailureOfAReplicaSetIsCopiedAndTakenAway) {
  Json failure = {{"type", "ReplicaFailure"},
                  {"status", "True"},
                  {"reason", "FailedCreate"},
                  {"message", "exceeded quota"},
                  {"lastTransitionTime", "2026-01-01T00:00:07Z"}};
  Json conditions = Json::array({Available(true, kThen)});
  CopyFailure(failure, conditions);
  ASSERT_EQ(Order(conditions), "Available ReplicaFailure ");
  EXPECT_EQ(StringAt(conditions[1], "lastUpdateTime"), "2026-01-01T00:00:07Z");
  EXPECT_EQ(StringAt(conditions[1], "message"), "exceeded quota");
  CopyFailure(nullptr, conditions);
  EXPECT_EQ(Order(conditions), "Available ");
}

}  // namespace
}  // namespace terrarium::controllers::deployment
