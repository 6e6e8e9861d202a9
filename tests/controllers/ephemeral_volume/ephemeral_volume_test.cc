// Generic ephemeral volumes in a whole cluster.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using testbed::Testbed;
using ::testing::ElementsAre;
using namespace std::chrono_literals;

class EphemeralVolume : public testing::Test {
 protected:
  void CreatePod() {
    Json claim_template = {
        {"metadata", {{"labels", {{"app", "web"}}}, {"annotations", {{"note", "x"}}}}},
        {"spec", {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}};
    Testbed::Must(bed_.Create(
        "pods", "default",
        {{"metadata", {{"name", "web"}}},
         {"spec",
          {{"containers", {{{"name", "c"}, {"image", "i"}}}},
           {"volumes", Json::array({{{"name", "scratch"},
                                     {"ephemeral", {{"volumeClaimTemplate", claim_template}}}}})}}}}));
  }
  void Settle() { bed_.clock().RunUntilIdle(1s); }
  ObjectPtr Claim() { return bed_.Get("persistentvolumeclaims", "default", "web-scratch"); }

  Testbed bed_{{.scheduler = false, .nodes = 0}};
};

TEST_F(EphemeralVolume, ThePodGetsAClaimOfItsOwn) {
  CreatePod();
  Settle();
  ASSERT_NE(Claim(), nullptr);
  const Json claim = Claim()->Parse();
  EXPECT_EQ(Claim()->controller()->uid, bed_.Get("pods", "default", "web")->header().uid);
  EXPECT_EQ(claim["metadata"]["labels"], Json({{"app", "web"}}));
  EXPECT_EQ(claim["metadata"]["annotations"]["note"], "x");
  EXPECT_EQ(claim["status"]["phase"], "Bound");
}

TEST_F(EphemeralVolume, TheClaimGoesWithThePod) {
  CreatePod();
  Settle();
  Testbed::Must(bed_.Delete("pods", {"default", "web"}, {.grace_period_seconds = 0}));
  bed_.clock().RunUntilIdle(1min);
  EXPECT_EQ(Claim(), nullptr);
  EXPECT_TRUE(bed_.List("persistentvolumes").empty());
}

TEST_F(EphemeralVolume, ADeletedClaimIsCreatedAgain) {
  CreatePod();
  Settle();
  const std::string uid = Claim()->header().uid;
  Testbed::Must(bed_.Delete("persistentvolumeclaims", {"default", "web-scratch"}));
  Settle();
  ASSERT_NE(Claim(), nullptr);
  EXPECT_NE(Claim()->header().uid, uid);
}

TEST_F(EphemeralVolume, AClaimOfSomethingElseIsNotUsed) {
  Testbed::Must(bed_.Create(
      "persistentvolumeclaims", "default",
      {{"metadata", {{"name", "web-scratch"}}},
       {"spec", {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}}));
  CreatePod();
  Settle();
  std::vector<std::string> events;
  for (const testbed::EventView& event : bed_.Events("Pod", "web"))
    events.push_back(std::string(event.reason()) + ": " + std::string(event.message()));
  EXPECT_THAT(
      events,
      ElementsAre("FailedBinding: ephemeral volume scratch: PVC default/web-scratch was not created for "
                  "pod default/web (pod is not owner)"));
}

}  // namespace
}  // namespace terrarium::controllers
