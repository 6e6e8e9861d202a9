#include "controllers/job/internal/failure_policy.h"

#include <gtest/gtest.h>

#include "tests/controllers/job/rules_testing.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;
using std::chrono::seconds;
using testing::Running;
using testing::Terminated;

Json OnExitCodes(const char* action, const char* op, std::vector<int> values) {
  return {{"action", action}, {"onExitCodes", {{"operator", op}, {"values", values}}}};
}

Json OnCondition(const char* action, const char* type, const char* status = "True") {
  return {{"action", action}, {"onPodConditions", Json::array({{{"type", type}, {"status", status}}})}};
}

Json FailedWith(std::vector<Json> containers) {
  return {{"metadata", {{"namespace", "ns"}, {"name", "p"}}},
          {"status", {{"phase", "Failed"}, {"containerStatuses", containers}}}};
}

Json FailedWithCondition(const char* type, const char* status) {
  return {
      {"metadata", {{"namespace", "ns"}, {"name", "p"}}},
      {"status", {{"phase", "Failed"}, {"conditions", Json::array({{{"type", type}, {"status", status}}})}}}};
}

FailureVerdict Match(std::vector<Json> rules, const Json& pod, bool allows_fail_index = true) {
  const Json policy = {{"rules", rules}};
  return MatchFailurePolicy(&policy, pod, allows_fail_index);
}

TEST(FailurePolicy, WithoutOneEveryFailureCounts) {
  for (const FailureVerdict& verdict :
       {MatchFailurePolicy(nullptr, FailedWith({Terminated("c", seconds(1), 5)}), true),
        Match({}, FailedWith({Terminated("c", seconds(1), 5)})),
        Match({OnExitCodes("Ignore", "In", {1})}, FailedWith({Terminated("c", seconds(1), 5)}))}) {
    EXPECT_EQ(verdict.action, std::nullopt);
    EXPECT_TRUE(verdict.counts);
    EXPECT_EQ(verdict.fail_job_message, "");
  }
}

TEST(FailurePolicy, EachActionDecidesWhetherTheFailureCounts) {
  const Json pod = FailedWith({Terminated("c", seconds(1), 5)});
  for (auto [name, action, counts] :
       {std::tuple("Ignore", FailureAction::kIgnore, false), std::tuple("Count", FailureAction::kCount, true),
        std::tuple("FailIndex", FailureAction::kFailIndex, true),
        std::tuple("FailJob", FailureAction::kFailJob, true)}) {
    FailureVerdict verdict = Match({OnExitCodes(name, "In", {3, 5})}, pod);
    EXPECT_EQ(verdict.action, action) << name;
    EXPECT_EQ(verdict.counts, counts) << name;
    EXPECT_EQ(FailureActionName(action), name);
    EXPECT_EQ(verdict.fail_job_message.empty(), action != FailureAction::kFailJob) << name;
    EXPECT_EQ(Match({OnCondition(name, "X")}, FailedWithCondition("X", "True")).action, action) << name;
  }
}

TEST(FailurePolicy, TheFirstRuleThatMatchesDecides) {
  const Json pod = FailedWith({Terminated("c", seconds(1), 5)});
  EXPECT_EQ(Match({OnExitCodes("Count", "In", {5}), OnExitCodes("Ignore", "In", {5})}, pod).action,
            FailureAction::kCount);
  EXPECT_EQ(Match({OnExitCodes("Count", "In", {6}), OnExitCodes("Ignore", "In", {5})}, pod).action,
            FailureAction::kIgnore);
}

TEST(FailurePolicy, TheMessageOfAFailedJobNamesContainerCodeAndRule) {
  const Json pod = FailedWith({Terminated("ok", seconds(1), 0), Terminated("main", seconds(1), 42)});
  EXPECT_EQ(Match({OnExitCodes("FailJob", "In", {42})}, pod).fail_job_message,
            "Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 0");
  EXPECT_EQ(
      Match({OnExitCodes("Ignore", "In", {1}), OnExitCodes("FailJob", "NotIn", {1})}, pod).fail_job_message,
      "Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 1");
}

TEST(FailurePolicy, TheMessageOfAFailedJobNamesConditionAndRule) {
  EXPECT_EQ(Match({OnCondition("Ignore", "Other"), OnCondition("FailJob", "ConfigIssue")},
                  FailedWithCondition("ConfigIssue", "True"))
                .fail_job_message,
            "Pod ns/p has condition ConfigIssue matching FailJob rule at index 1");
}

TEST(FailurePolicy, ContainersThatSucceededOrStillRunHaveNoExitCode) {
  const Json pod = FailedWith({Terminated("ok", seconds(1), 0), Running("busy")});
  EXPECT_EQ(Match({OnExitCodes("FailJob", "NotIn", {1})}, pod).action, std::nullopt);
  EXPECT_EQ(Match({OnExitCodes("FailJob", "In", {0})}, pod).action, std::nullopt);
}

TEST(FailurePolicy, NegativeExitCodesAreCodesToo) {
  EXPECT_EQ(Match({OnExitCodes("Ignore", "In", {-1073741510})},
                  FailedWith({Terminated("c", seconds(1), -1073741510)}))
                .action,
            FailureAction::kIgnore);
}

TEST(FailurePolicy, ARuleMayBeAboutOneContainer) {
  Json rule = OnExitCodes("FailJob", "In", {5});
  rule["onExitCodes"]["containerName"] = "main";
  EXPECT_EQ(Match({rule}, FailedWith({Terminated("side", seconds(1), 5)})).action, std::nullopt);
  EXPECT_EQ(Match({rule}, FailedWith({Terminated("side", seconds(1), 5), Terminated("main", seconds(1), 5)}))
                .fail_job_message,
            "Container main for pod ns/p failed with exit code 5 matching FailJob rule at index 0");
}

TEST(FailurePolicy, InitContainersAreCheckedAfterTheOthers) {
  Json pod = FailedWith({});
  pod["status"]["initContainerStatuses"] = {Terminated("init", seconds(1), 5)};
  EXPECT_EQ(Match({OnExitCodes("FailJob", "In", {5, 6})}, pod).fail_job_message,
            "Container init for pod ns/p failed with exit code 5 matching FailJob rule at index 0");
  pod["status"]["containerStatuses"] = {Terminated("main", seconds(1), 6)};
  EXPECT_EQ(Match({OnExitCodes("FailJob", "In", {5, 6})}, pod).fail_job_message,
            "Container main for pod ns/p failed with exit code 6 matching FailJob rule at index 0");
}

TEST(FailurePolicy, ConditionsMatchByTypeAndStatus) {
  EXPECT_EQ(Match({OnCondition("Ignore", "X", "False")}, FailedWithCondition("X", "False")).action,
            FailureAction::kIgnore);
  EXPECT_EQ(Match({OnCondition("Ignore", "X", "Unknown")}, FailedWithCondition("X", "Unknown")).action,
            FailureAction::kIgnore);
  EXPECT_EQ(Match({OnCondition("Ignore", "X", "False")}, FailedWithCondition("X", "True")).action,
            std::nullopt);
  EXPECT_EQ(Match({OnCondition("Ignore", "X", "True")}, FailedWithCondition("X", "False")).action,
            std::nullopt);
  EXPECT_EQ(Match({OnCondition("Ignore", "Y")}, FailedWithCondition("X", "True")).action, std::nullopt);
}

TEST(FailurePolicy, WithoutBackoffPerIndexFailIndexIsSkipped) {
  const Json pod = FailedWith({Terminated("c", seconds(1), 5)});
  EXPECT_EQ(Match({OnExitCodes("FailIndex", "In", {5})}, pod, false).action, std::nullopt);
  EXPECT_EQ(Match({OnExitCodes("FailIndex", "In", {5}), OnExitCodes("Ignore", "In", {5})}, pod, false).action,
            FailureAction::kIgnore);
}

TEST(FailurePolicy, UnknownActionsAndOperatorsAreSkipped) {
  const Json pod = FailedWith({Terminated("c", seconds(1), 5)});
  EXPECT_EQ(Match({OnExitCodes("Explode", "In", {5}), OnExitCodes("Ignore", "In", {5})}, pod).action,
            FailureAction::kIgnore);
  EXPECT_EQ(Match({OnExitCodes("FailJob", "Near", {5})}, pod).action, std::nullopt);
}

}  // namespace
}  // namespace terrarium::controllers::job
