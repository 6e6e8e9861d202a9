// "Exponential back-off after quota rejection delays rollout up to 16 min", k/k#98656: two replicas without a
// surge, pods that use their whole grace period, and a quota with room for three of them.

#include <algorithm>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::scenarios {
namespace {

using api::Json;
using api::StringAt;
using namespace std::chrono_literals;
using controllers::deployment::kNoPolicy;
using controllers::deployment::kTerminationComplete;
using controllers::deployment::PolicyCase;
using controllers::deployment::WebCluster;
using testbed::RunOutcome;

class QuotaRollout {
 public:
  QuotaRollout(const PolicyCase& policy, std::chrono::seconds grace) : cluster_(policy) {
    cluster_.bed().Must(cluster_.bed().Create(
        "resourcequotas", "default",
        {{"metadata", {{"name", "memory"}}}, {"spec", {{"hard", {{"requests.memory", "150Mi"}}}}}}));
    cluster_.Settle();
    const Json container = {
        {"name", "c"}, {"image", "web:1"}, {"resources", {{"requests", {{"memory", "50Mi"}}}}}};
    const Json pods = {{"terminationGracePeriodSeconds", grace.count()},
                       {"containers", Json::array({container})}};
    const Json spec = {{"strategy", {{"rollingUpdate", {{"maxSurge", 0}, {"maxUnavailable", 1}}}}},
                       {"progressDeadlineSeconds", 7200},
                       {"template", {{"spec", pods}}}};
    cluster_.Create(2, spec, {{"ignore-sigterm", "true"}});
    cluster_.RunToTheEnd();
    cluster_.SetImage("web:2");
    began_ = cluster_.bed().Now();
  }

  // The time from the new image to that state. The rollout continues from there.
  std::chrono::milliseconds Until(const std::function<bool()>& holds) {
    EXPECT_EQ(cluster_.bed().clock().RunUntil(holds, 2h).why, RunOutcome::Why::kDone);
    return std::chrono::duration_cast<std::chrono::milliseconds>(cluster_.bed().Now() - began_);
  }
  std::chrono::milliseconds UntilAPodHasGone() {
    return Until([this] { return cluster_.Sizes() == "0 2" && cluster_.Terminating() < 2; });
  }
  std::chrono::milliseconds UntilComplete() {
    return Until([this] {
      return cluster_.Sizes() == "0 2" && cluster_.Counter("availableReplicas") == 2 && cluster_.Complete();
    });
  }
  // The number of pods that a ReplicaSet was refused.
  std::int64_t Refused() {
    std::int64_t refused = 0;
    for (const api::ObjectPtr& event : cluster_.bed().List("events", "default")) {
      auto document = event->Document();
      if (StringAt(*document, "reason") != "FailedCreate") continue;
      EXPECT_NE(StringAt(*document, "message").find("exceeded quota: memory"), std::string_view::npos);
      refused += std::max<std::int64_t>(api::IntAt(*document, 1, "count"), 1);
    }
    return refused;
  }
  WebCluster& web() { return cluster_; }

 private:
  WebCluster cluster_;
  api::Time began_;
};

// The numbers of the report. After 90 s there is room again, and no event wakes the ReplicaSet controller:
// its retries follow after 5 ms, 10 ms, 20 ms, ...
TEST(QuotaBackoff, BeforeTheRolloutStandsStillThoughThereIsRoom) {
  QuotaRollout rollout(kNoPolicy, 90s);
  rollout.web().Settle();
  EXPECT_EQ(rollout.web().Sizes(), "0 2");
  EXPECT_EQ(rollout.web().Terminating(), 2) << "the quota is used up";
  EXPECT_EQ(rollout.web().Condition("ReplicaFailure"), "True FailedCreate");
  EXPECT_EQ(rollout.UntilAPodHasGone(), 90s);
  EXPECT_GT(rollout.UntilComplete(), 150s);
  EXPECT_GE(rollout.Refused(), 10);
  EXPECT_EQ(rollout.web().Condition("ReplicaFailure"), "none");
}

// The longer the pods take, the longer the needless wait: at most 1000 s, the 16 minutes of the report.
TEST(QuotaBackoff, BeforeManyMinutesAreLostWhenPodsTakeLong) {
  QuotaRollout rollout(kNoPolicy, 11min);
  EXPECT_EQ(rollout.UntilAPodHasGone(), 11min);
  const auto lost = rollout.UntilComplete() - 11min;
  EXPECT_GT(lost, 10min);
  EXPECT_LT(lost, 1000s);
}

class QuotaBackoffAfter : public testing::TestWithParam<std::chrono::seconds> {};
INSTANTIATE_TEST_SUITE_P(GracePeriods, QuotaBackoffAfter, testing::Values(90s, 11min));

// One pod ends, then one is created, twice: nothing is refused, and no time is lost.
TEST_P(QuotaBackoffAfter, NothingIsRefusedAndTheRolloutTakesAsLongAsThePods) {
  QuotaRollout rollout(kTerminationComplete, GetParam());
  EXPECT_EQ(rollout.UntilComplete(), 2 * GetParam());
  EXPECT_EQ(rollout.Refused(), 0);
  EXPECT_EQ(rollout.web().peak().Most(), 2);
}

}  // namespace
}  // namespace terrarium::scenarios
