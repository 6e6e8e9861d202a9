#include "controllers/disruption/internal/stale_conditions.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::disruption {
namespace {

using api::Json;
using std::chrono::seconds;

const api::Time kNow{seconds(1'767'225'600)};

Json PodWith(const Json& condition) {
  return {{"metadata", {{"generation", 2}}},
          {"status",
           {{"phase", "Running"}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}, condition}}}}};
}

Json Announced(seconds ago) {
  return {{"type", "DisruptionTarget"},
          {"status", "True"},
          {"reason", "EvictionByEvictionAPI"},
          {"message", "Eviction API: evicting"},
          {"lastTransitionTime", api::FormatTime(kNow - ago)}};
}

TEST(StaleConditions, AnAnnouncementStandsForTwoMinutes) {
  EXPECT_EQ(DisruptionTargetStandsFor(PodWith(Announced(seconds(0))), kNow), seconds(120));
  EXPECT_EQ(DisruptionTargetStandsFor(PodWith(Announced(seconds(119))), kNow), seconds(1));
  EXPECT_EQ(DisruptionTargetStandsFor(PodWith(Announced(seconds(500))), kNow), seconds(0));
}

TEST(StaleConditions, SomeAnnouncementsAreNeverStale) {
  Json going = PodWith(Announced(seconds(500)));
  going["metadata"]["deletionTimestamp"] = api::FormatTime(kNow);
  EXPECT_EQ(DisruptionTargetStandsFor(going, kNow), std::nullopt);
  Json ended = PodWith(Announced(seconds(500)));
  ended["status"]["phase"] = "Failed";
  EXPECT_EQ(DisruptionTargetStandsFor(ended, kNow), std::nullopt);
  Json kubelets = Announced(seconds(500));
  kubelets["reason"] = "TerminationByKubelet";
  EXPECT_EQ(DisruptionTargetStandsFor(PodWith(kubelets), kNow), std::nullopt);
  Json taken_back = Announced(seconds(500));
  taken_back["status"] = "False";
  EXPECT_EQ(DisruptionTargetStandsFor(PodWith(taken_back), kNow), std::nullopt);
  EXPECT_EQ(DisruptionTargetStandsFor(Json::object(), kNow), std::nullopt);
}

TEST(StaleConditions, AResetConditionHasNoReason) {
  Json pod = PodWith(Announced(seconds(500)));
  SetDisruptionTargetFalse(pod, kNow);
  Json expected = {{"type", "DisruptionTarget"},
                   {"status", "False"},
                   {"lastProbeTime", nullptr},
                   {"lastTransitionTime", api::FormatTime(kNow)},
                   {"observedGeneration", 2}};
  EXPECT_EQ(pod["status"]["conditions"][1], expected);
  EXPECT_EQ(pod["status"]["conditions"][0]["status"], "True");
}

}  // namespace
}  // namespace terrarium::controllers::disruption
