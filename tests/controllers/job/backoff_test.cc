#include "controllers/job/internal/backoff.h"

#include <gtest/gtest.h>

#include "tests/controllers/job/rules_testing.h"

namespace terrarium::controllers::job {
namespace {

using api::Duration;
using api::Json;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::At;
using testing::kNoon;
using testing::Running;
using testing::Terminated;

api::Time T(int after_noon) { return kNoon + seconds(after_noon); }

Json PodWith(Json status) {
  return {{"metadata", {{"creationTimestamp", At(seconds(-100))}}}, {"status", std::move(status)}};
}

Json WithDeletion(Json pod, seconds gone_by, int grace) {
  pod["metadata"]["deletionTimestamp"] = At(gone_by);
  if (grace > 0) pod["metadata"]["deletionGracePeriodSeconds"] = grace;
  return pod;
}

TEST(FinishTimeOf, IsThatOfTheLastContainer) {
  Json pod =
      PodWith({{"containerStatuses",
                {Terminated("a", seconds(3)), Terminated("b", seconds(8)), Terminated("c", seconds(5))}}});
  EXPECT_EQ(FinishTimeOf(pod), T(8));
}

TEST(FinishTimeOf, WaitsForSidecarsAndNotForInitContainers) {
  Json pod =
      PodWith({{"containerStatuses", {Terminated("a", seconds(3))}},
               {"initContainerStatuses", {Terminated("side", seconds(9)), Terminated("init", seconds(20))}}});
  pod["spec"]["initContainers"] = {{{"name", "side"}, {"restartPolicy", "Always"}}, {{"name", "init"}}};
  EXPECT_EQ(FinishTimeOf(pod), T(9));
  pod["status"]["initContainerStatuses"][0] = Running("side");
  EXPECT_EQ(FinishTimeOf(pod), T(-100));
}

TEST(FinishTimeOf, WhileAContainerRunsIsWhenTheDeletionBegan) {
  Json pod = PodWith({{"containerStatuses", {Terminated("a", seconds(3)), Running("b")}}});
  EXPECT_EQ(FinishTimeOf(WithDeletion(pod, seconds(50), 0)), T(50));
  EXPECT_EQ(FinishTimeOf(WithDeletion(pod, seconds(50), 30)), T(20));
}

TEST(FinishTimeOf, OrWhenThePodBecameNotReady) {
  Json condition = {{"type", "Ready"}, {"status", "False"}, {"lastTransitionTime", At(seconds(7))}};
  Json pod = WithDeletion(PodWith({{"conditions", {condition}}}), seconds(50), 30);
  EXPECT_EQ(FinishTimeOf(pod), T(7));
  pod["status"]["conditions"][0]["status"] = "True";
  EXPECT_EQ(FinishTimeOf(pod), T(20));
}

TEST(FinishTimeOf, OrElseWhenThePodWasCreated) { EXPECT_EQ(FinishTimeOf(PodWith(Json::object())), T(-100)); }

// KEP-3939: under TerminatingOrFailed the backoff begins when the pod is terminating, under Failed when it
// has failed.
TEST(Backoff, BeginsWithTheDeletionOfAPodThatRunsAndWithTheEndOfOneThatHasFailed) {
  Json pod =
      WithDeletion(PodWith({{"phase", "Running"}, {"containerStatuses", {Running("c")}}}), seconds(30), 30);
  PodFacts terminating = FactsOf(pod);
  EXPECT_EQ(RemainingBackoff(WithFinished({}, {}, {terminating.finish_time}), T(0)), seconds(10));
  pod["status"] = {{"phase", "Failed"}, {"containerStatuses", {Terminated("c", seconds(25))}}};
  PodFacts failed = FactsOf(pod);
  EXPECT_EQ(RemainingBackoff(WithFinished({}, {}, {failed.finish_time}), T(25)), seconds(10));
}

TEST(BackoffRecord, CountsFailuresSinceTheLastSuccess) {
  const BackoffRecord none;
  EXPECT_EQ(WithFinished(none, {}, {}), none);
  EXPECT_EQ(WithFinished(none, {}, {T(5)}), (BackoffRecord{1, T(5)}));
  EXPECT_EQ(WithFinished(none, {}, {T(5), T(2)}), (BackoffRecord{2, T(5)}));
  EXPECT_EQ(WithFinished(none, {T(9)}, {T(5), T(2)}), none);
  EXPECT_EQ(WithFinished(none, {T(5)}, {T(9), T(2), T(7)}), (BackoffRecord{2, T(9)}));
  // At the same instant the success counts as later.
  EXPECT_EQ(WithFinished(none, {T(5)}, {T(5)}), none);
}

TEST(BackoffRecord, IsCarriedOnAndForgottenWithASuccess) {
  const BackoffRecord two{2, T(5)};
  EXPECT_EQ(WithFinished(two, {}, {}), two);
  EXPECT_EQ(WithFinished(two, {}, {T(30)}), (BackoffRecord{3, T(30)}));
  EXPECT_EQ(WithFinished(two, {T(30)}, {}), BackoffRecord());
  EXPECT_EQ(WithFinished(two, {T(30)}, {T(40)}), (BackoffRecord{1, T(40)}));
}

TEST(RemainingBackoff, DoublesFromTenSecondsToTenMinutes) {
  EXPECT_EQ(RemainingBackoff({}, T(0)), Duration(0));
  const std::vector<Duration> expected = {seconds(10),  seconds(20),  seconds(40), seconds(80),
                                          seconds(160), seconds(320), minutes(10), minutes(10)};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(RemainingBackoff({static_cast<int>(i) + 1, T(0)}, T(0)), expected[i]) << i + 1 << " failures";
  EXPECT_EQ(RemainingBackoff({2'000'000'000, T(0)}, T(0)), minutes(10));
}

TEST(RemainingBackoff, RunsOutWithTheClock) {
  EXPECT_EQ(RemainingBackoff({1, T(0)}, T(1)), seconds(9));
  EXPECT_EQ(RemainingBackoff({1, T(0)}, T(10)), Duration(0));
  EXPECT_EQ(RemainingBackoff({1, T(0)}, T(11)), Duration(0));
}

PodFacts FailedPod(std::int32_t failures_before, std::int32_t ignored_before, api::Time finished) {
  PodFacts pod = testing::Pod("p", Phase::kFailed);
  pod.index_failures = failures_before;
  pod.index_ignored_failures = ignored_before;
  pod.finish_time = finished;
  return pod;
}

TEST(RemainingIndexBackoff, GoesByTheFailuresOfTheIndexIgnoredOrNot) {
  EXPECT_EQ(RemainingIndexBackoff(nullptr, T(0)), Duration(0));
  PodFacts first = FailedPod(0, 0, T(0));
  EXPECT_EQ(RemainingIndexBackoff(&first, T(4)), seconds(6));
  PodFacts third = FailedPod(1, 1, T(0));
  EXPECT_EQ(RemainingIndexBackoff(&third, T(0)), seconds(40));
}

TEST(IndexesPastBackoff, AreThoseThatMayRunNow) {
  PodFacts soon = FailedPod(0, 0, T(0));
  PodFacts later = FailedPod(1, 0, T(0));
  const std::map<int, const PodFacts*> kept = {{1, &soon}, {2, &later}};
  IndexesReady now = IndexesPastBackoff({0, 1, 2}, kept, T(0));
  EXPECT_EQ(now.indexes, std::vector{0});
  EXPECT_EQ(now.wait, Duration(0));
  IndexesReady none = IndexesPastBackoff({1, 2}, kept, T(3));
  EXPECT_EQ(none.indexes, std::vector<int>());
  EXPECT_EQ(none.wait, seconds(7));
  IndexesReady one = IndexesPastBackoff({1, 2}, kept, T(10));
  EXPECT_EQ(one.indexes, std::vector{1});
  IndexesReady empty = IndexesPastBackoff({}, kept, T(0));
  EXPECT_EQ(empty.wait, Duration(0));
}

}  // namespace
}  // namespace terrarium::controllers::job
