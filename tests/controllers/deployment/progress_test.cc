#include "controllers/deployment/internal/progress.h"

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/deployment/internal/conditions.h"
#include "controllers/deployment/internal/rollout.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::StringAt;
using namespace std::chrono_literals;

constexpr api::Time kThen{std::chrono::seconds(1'767'225'600)};  // 2026-01-01T00:00:00Z

DeploymentSize Size(std::int64_t replicas, bool waits = false) {
  DeploymentSize size;
  size.replicas = replicas;
  size.waits_for_termination = waits;
  return size;
}

Counters Of(std::int64_t replicas, std::int64_t updated, std::int64_t ready, std::int64_t available,
            std::optional<std::int64_t> terminating = std::nullopt) {
  return {.observed_generation = 1,
          .replicas = replicas,
          .updated = updated,
          .ready = ready,
          .available = available,
          .unavailable = 0,
          .terminating = terminating,
          .terminating_pods = terminating.value_or(0)};
}

FactsPtr Set(std::int64_t wanted, std::int64_t replicas, std::int64_t ready, std::int64_t available,
             std::optional<std::int64_t> terminating) {
  auto set = std::make_shared<ReplicaSetFacts>();
  set->size.replicas = wanted;
  set->size.status_replicas = replicas;
  set->size.available = available;
  set->size.terminating = terminating.value_or(0);
  set->ready = ready;
  set->terminating = terminating;
  set->observed = true;
  return set;
}

// KEP-3973, unit: the status is computed correctly.
TEST(DeploymentCounters, AreTheSumsOverAllReplicaSets) {
  std::vector<FactsPtr> sets = {Set(3, 4, 3, 2, 1), Set(5, 5, 4, 3, 2)};
  Counters counters = Count(sets, {.generation = 7, .new_index = 1, .terminating = true});
  EXPECT_EQ(counters.observed_generation, 7);
  EXPECT_EQ(counters.replicas, 9);
  EXPECT_EQ(counters.updated, 5);
  EXPECT_EQ(counters.ready, 7);
  EXPECT_EQ(counters.available, 5);
  EXPECT_EQ(counters.unavailable, 3) << "3 + 5 are wanted";
  EXPECT_EQ(counters.terminating, 3);
  EXPECT_EQ(Count(sets, {.generation = 7, .new_index = kNotThereYet, .terminating = true}).updated, 0);
  EXPECT_EQ(Count({}, {.generation = 7, .new_index = kNotThereYet, .terminating = true}).terminating, 0);
}

TEST(DeploymentCounters, MoreAvailableThanWantedAreNoneTooFew) {
  std::vector<FactsPtr> sets = {Set(1, 3, 3, 3, 0)};
  EXPECT_EQ(Count(sets, {.generation = 1, .new_index = 0, .terminating = true}).unavailable, 0);
}

TEST(DeploymentCounters, TerminatingIsAbsentWhenItIsNotWantedOrNotKnown) {
  std::vector<FactsPtr> sets = {Set(3, 3, 3, 3, 1), Set(3, 3, 3, 3, std::nullopt), Set(3, 3, 3, 3, 1)};
  EXPECT_EQ(Count(sets, {.generation = 1, .new_index = 0, .terminating = true}).terminating, std::nullopt);
  sets.erase(sets.begin() + 1);
  EXPECT_EQ(Count(sets, {.generation = 1, .new_index = 0, .terminating = false}).terminating, std::nullopt);
  auto never_seen = std::make_shared<ReplicaSetFacts>();
  sets.push_back(never_seen);
  EXPECT_EQ(Count(sets, {.generation = 1, .new_index = 0, .terminating = true}).terminating, 2);
}

TEST(DeploymentStatus, ZeroesAreNotWrittenButForTerminatingPods) {
  Counters counters;
  counters.observed_generation = 2;
  counters.terminating = 0;
  EXPECT_EQ(StatusOf(counters, std::nullopt, Json::array()),
            (Json{{"observedGeneration", 2}, {"terminatingReplicas", 0}}));
  counters.terminating.reset();
  EXPECT_EQ(StatusOf(counters, 0, Json::array()), (Json{{"observedGeneration", 2}, {"collisionCount", 0}}));
}

TEST(DeploymentStatus, IsReadAsItIsWritten) {
  Counters counters = Of(9, 5, 7, 5, 3);
  counters.unavailable = 3;
  EXPECT_EQ(StatusOf(CountersOf(StatusOf(counters, 1, Json::array())), 1, Json::array()),
            StatusOf(counters, 1, Json::array()));
}

// TestDeploymentComplete of Kubernetes.
TEST(IsComplete, WhenAllPodsAreNewAndAvailable) {
  EXPECT_TRUE(IsComplete(Size(5), 1, Of(5, 5, 5, 5)));
  EXPECT_FALSE(IsComplete(Size(5), 1, Of(5, 5, 5, 4))) << "not all are available";
  EXPECT_FALSE(IsComplete(Size(5), 1, Of(6, 5, 6, 6))) << "an old pod is left";
  EXPECT_FALSE(IsComplete(Size(5), 1, Of(5, 4, 5, 5))) << "not all are new";
  EXPECT_FALSE(IsComplete(Size(1), 1, Of(0, 0, 0, 0)));
  EXPECT_TRUE(IsComplete(Size(0), 1, Of(0, 0, 0, 0)));
  EXPECT_FALSE(IsComplete(Size(5), 2, Of(5, 5, 5, 5))) << "this is the status of an earlier spec";
}

// KEP-3973: under TerminationComplete a Deployment is not complete while a pod is terminating.
TEST(IsComplete, TerminatingPodsCountOnlyWhereTheyAreWaitedFor) {
  EXPECT_TRUE(IsComplete(Size(5), 1, Of(5, 5, 5, 5, 2)));
  EXPECT_FALSE(IsComplete(Size(5, true), 1, Of(5, 5, 5, 5, 2)));
  EXPECT_TRUE(IsComplete(Size(5, true), 1, Of(5, 5, 5, 5, 0)));
  Counters unreported = Of(5, 5, 5, 5);
  EXPECT_TRUE(IsComplete(Size(5, true), 1, unreported));
  unreported.terminating_pods = 2;
  EXPECT_FALSE(IsComplete(Size(5, true), 1, unreported))
      << "counted, where the ReplicaSets do not report them";
}

// TestDeploymentProgressing of Kubernetes.
TEST(HasProgressed, WhenPodsComeBecomeReadyOrAvailableAndWhenOldOnesGo) {
  const DeploymentSize size = Size(10);
  EXPECT_FALSE(HasProgressed(size, Of(10, 4, 10, 10), Of(10, 4, 10, 10)));
  EXPECT_TRUE(HasProgressed(size, Of(10, 4, 10, 10), Of(11, 5, 10, 10))) << "a new pod";
  EXPECT_TRUE(HasProgressed(size, Of(10, 4, 10, 10), Of(9, 4, 9, 9))) << "an old pod less";
  EXPECT_FALSE(HasProgressed(size, Of(10, 4, 10, 10), Of(9, 3, 9, 9))) << "a new pod less is none";
  EXPECT_TRUE(HasProgressed(size, Of(10, 4, 8, 8), Of(10, 4, 9, 8))) << "a pod is ready";
  EXPECT_TRUE(HasProgressed(size, Of(10, 4, 9, 8), Of(10, 4, 9, 9))) << "a pod is available";
  EXPECT_FALSE(HasProgressed(size, Of(10, 4, 9, 9), Of(10, 4, 8, 8))) << "a pod has become unready";
}

// KEP-3973: a falling number of terminating pods is progress under TerminationComplete.
TEST(HasProgressed, AFallingNumberOfTerminatingPodsCountsOnlyWhereTheyAreWaitedFor) {
  EXPECT_TRUE(HasProgressed(Size(5, true), Of(5, 5, 5, 5, 3), Of(5, 5, 5, 5, 2)));
  EXPECT_FALSE(HasProgressed(Size(5, true), Of(5, 5, 5, 5, 2), Of(5, 5, 5, 5, 3)));
  EXPECT_FALSE(HasProgressed(Size(5), Of(5, 5, 5, 5, 3), Of(5, 5, 5, 5, 2)));
}

class JudgeProgressTest : public testing::Test {
 protected:
  // The reason of Progressing after a sync at `now`, with the previous status `before` and a condition of
  // that reason set at kThen; "none" without a condition.
  std::string ReasonAt(api::Time time, std::string_view reason, const Counters& before, const Counters& now) {
    conditions_ = Json::array();
    if (!reason.empty()) {
      const char* status = reason == kDeadlineExceeded ? "False" : "True";
      conditions_.push_back(MakeCondition({kProgressing, status, reason, "before"}, kThen));
    }
    Progress progress{.deployment = size_,
                      .generation = 1,
                      .name = "web",
                      .new_set = set_,
                      .deadline = deadline_,
                      .before = before,
                      .now = now};
    JudgeProgress(progress, time, conditions_);
    fails_at_ = FailsAt(progress, conditions_);
    const Json* condition = FindCondition(conditions_, kProgressing);
    return condition == nullptr ? "none" : std::string(StringAt(*condition, "reason"));
  }
  std::string Text(const char* key) {
    return std::string(StringAt(*FindCondition(conditions_, kProgressing), key));
  }

  DeploymentSize size_ = Size(3);
  std::string set_ = "web-1";
  std::optional<api::Duration> deadline_ = 10s;
  Json conditions_;
  std::optional<api::Time> fails_at_;
};

const Counters kStuck = Of(3, 1, 2, 2);
const Counters kDone = Of(3, 3, 3, 3);

// TestSyncRolloutStatus and TestDeploymentTimedOut of Kubernetes.
TEST_F(JudgeProgressTest, LackOfProgressBecomesAFailureAtTheDeadline) {
  EXPECT_EQ(ReasonAt(kThen + 9999ms, kSetUpdated, kStuck, kStuck), kSetUpdated);
  EXPECT_EQ(fails_at_, kThen + 10s);
  EXPECT_EQ(ReasonAt(kThen + 10s, kSetUpdated, kStuck, kStuck), kDeadlineExceeded);
  EXPECT_EQ(Text("message"), "ReplicaSet \"web-1\" has timed out progressing.");
  EXPECT_EQ(Text("status"), "False");
  EXPECT_EQ(fails_at_, std::nullopt);
}

TEST_F(JudgeProgressTest, ADeploymentThatFailedStaysSoWithoutProgressAndRecoversWithIt) {
  EXPECT_EQ(ReasonAt(kThen + 1h, kDeadlineExceeded, kStuck, kStuck), kDeadlineExceeded);
  EXPECT_EQ(Text("message"), "before");
  EXPECT_EQ(ReasonAt(kThen + 1h, kDeadlineExceeded, kStuck, Of(3, 2, 2, 2)), kSetUpdated);
  EXPECT_EQ(Text("message"), "ReplicaSet \"web-1\" is progressing.");
  EXPECT_EQ(Text("lastTransitionTime"), "2026-01-01T01:00:00Z");
  EXPECT_EQ(ReasonAt(kThen + 1h, kDeadlineExceeded, kStuck, kDone), kSetAvailable);
}

TEST_F(JudgeProgressTest, ProgressResetsTheDeadlineAndKeepsTheTransitionTime) {
  EXPECT_EQ(ReasonAt(kThen + 7s, kSetUpdated, kStuck, Of(3, 2, 2, 2)), kSetUpdated);
  EXPECT_EQ(Text("lastUpdateTime"), "2026-01-01T00:00:07Z");
  EXPECT_EQ(Text("lastTransitionTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(fails_at_, kThen + 17s);
}

TEST_F(JudgeProgressTest, ACompleteRolloutIsReportedOnce) {
  EXPECT_EQ(ReasonAt(kThen + 7s, kSetUpdated, kStuck, kDone), kSetAvailable);
  EXPECT_EQ(Text("message"), "ReplicaSet \"web-1\" has successfully progressed.");
  EXPECT_EQ(fails_at_, std::nullopt);
  EXPECT_EQ(ReasonAt(kThen + 1h, kSetAvailable, kDone, kDone), kSetAvailable);
  EXPECT_EQ(Text("message"), "before");
}

TEST_F(JudgeProgressTest, AfterARolloutFailingPodsDoNotChangeProgressing) {
  EXPECT_EQ(ReasonAt(kThen + 1h, kSetAvailable, kDone, Of(3, 3, 1, 1)), kSetAvailable);
  EXPECT_EQ(fails_at_, std::nullopt) << "nothing will come of waiting";
}

TEST_F(JudgeProgressTest, ANewRolloutDoesNotFailForTheTimeSinceTheLast) {
  EXPECT_EQ(ReasonAt(kThen + 1h, kSetAvailable, Of(3, 3, 3, 3), Of(3, 0, 3, 3)), kSetAvailable);
}

TEST_F(JudgeProgressTest, WithoutADeadlineThereIsNoCondition) {
  deadline_.reset();
  EXPECT_EQ(ReasonAt(kThen + 1h, kSetUpdated, kStuck, kDone), "none");
}

TEST_F(JudgeProgressTest, WithoutAReplicaSetTheMessageNamesTheDeployment) {
  set_.clear();
  EXPECT_EQ(ReasonAt(kThen + 1h, kSetUpdated, kStuck, kStuck), kDeadlineExceeded);
  EXPECT_EQ(Text("message"), "Deployment \"web\" has timed out progressing.");
}

TEST_F(JudgeProgressTest, WithoutAProgressingConditionThereIsNoDeadline) {
  EXPECT_EQ(ReasonAt(kThen + 1h, "", kStuck, kStuck), "none");
  EXPECT_EQ(fails_at_, std::nullopt);
  EXPECT_EQ(ReasonAt(kThen + 1h, kResumed, kStuck, kStuck), kDeadlineExceeded);
}

// KEP-3973, Deployment Completion and Progress Changes.
TEST_F(JudgeProgressTest, WhereTerminationIsWaitedForEachPodThatGoesResetsTheDeadline) {
  size_ = Size(3, true);
  EXPECT_EQ(ReasonAt(kThen + 9s, kSetUpdated, Of(3, 3, 3, 3, 2), Of(3, 3, 3, 3, 2)), kSetUpdated);
  EXPECT_EQ(fails_at_, kThen + 10s);
  EXPECT_EQ(ReasonAt(kThen + 9s, kSetUpdated, Of(3, 3, 3, 3, 2), Of(3, 3, 3, 3, 1)), kSetUpdated);
  EXPECT_EQ(fails_at_, kThen + 19s);
  EXPECT_EQ(ReasonAt(kThen + 9s, kSetUpdated, Of(3, 3, 3, 3, 1), Of(3, 3, 3, 3, 0)), kSetAvailable);
}

TEST(JudgeAvailability, ComparesWithTheLeastThatMustBeAvailable) {
  DeploymentSize size = Size(4);
  size.max_unavailable = 1;
  Json conditions = Json::array();
  JudgeAvailability(size, Of(4, 4, 2, 2), kThen, conditions);
  EXPECT_EQ(StringAt(conditions[0], "reason"), "MinimumReplicasUnavailable");
  EXPECT_EQ(StringAt(conditions[0], "message"), "Deployment does not have minimum availability.");
  JudgeAvailability(size, Of(4, 4, 3, 3), kThen, conditions);
  EXPECT_EQ(StringAt(conditions[0], "reason"), "MinimumReplicasAvailable");
  EXPECT_EQ(StringAt(conditions[0], "message"), "Deployment has minimum availability.");
}

}  // namespace
}  // namespace terrarium::controllers::deployment
