// Claims of StatefulSets on a whole cluster, with the garbage collector. Decisions about claims without one
// are in statefulset_races_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "tests/controllers/statefulset/statefulset_testing.h"

namespace terrarium::controllers_testing {
namespace {

using api::Json;
using testing::ElementsAre;
using testing::IsEmpty;

class StatefulSetClaims : public testing::Test {
 protected:
  void Create(int replicas, const char* when_deleted = "Retain", const char* when_scaled = "Retain") {
    Json spec;
    spec["volumeClaimTemplates"] = Json::array(
        {{{"metadata", {{"name", "data"}}},
          {"spec",
           {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}}});
    spec["persistentVolumeClaimRetentionPolicy"] = {{"whenDeleted", when_deleted},
                                                    {"whenScaled", when_scaled}};
    cluster_.CreateSet(replicas, spec);
  }
  std::vector<std::string> Claims() {
    std::vector<std::string> names;
    for (const api::ObjectPtr& claim : cluster_.List("persistentvolumeclaims", "default"))
      names.push_back(claim->header().name);
    return names;
  }
  std::string ClaimUid(const char* name) {
    return cluster_.Get("persistentvolumeclaims", "default", name)->header().uid;
  }

  SetCluster cluster_;
};

TEST_F(StatefulSetClaims, AreCreatedBeforeTheirPods) {
  Create(2);
  cluster_.Idle();
  EXPECT_EQ(cluster_.PodStates(), "0 1");
  EXPECT_THAT(Claims(), ElementsAre("data-web-0", "data-web-1"));
  EXPECT_THAT(cluster_.Decisions(),
              ElementsAre("create data-web-0", "create web-0", "create data-web-1", "create web-1"));
  EXPECT_EQ(cluster_.EventTexts()[0],
            "Normal SuccessfulCreate Create Claim data-web-0 Pod web-0 in StatefulSet web success");
  EXPECT_EQ(cluster_.Pod("web-1").field(".spec.volumes[0].persistentVolumeClaim.claimName"), "data-web-1");
}

TEST_F(StatefulSetClaims, RetainedClaimsAreUsedAgain) {
  Create(2);
  cluster_.Idle();
  const std::string uid = ClaimUid("data-web-1");
  cluster_.ScaleTo(1);
  cluster_.Idle();
  EXPECT_THAT(Claims(), ElementsAre("data-web-0", "data-web-1"));
  cluster_.ScaleTo(2);
  cluster_.Idle();
  EXPECT_EQ(ClaimUid("data-web-1"), uid);
  cluster_.Must(cluster_.Delete("statefulsets", {"default", "web"}));
  cluster_.Idle();
  EXPECT_THAT(Claims(), ElementsAre("data-web-0", "data-web-1"));
}

TEST_F(StatefulSetClaims, ClaimsGoWithTheSet) {
  Create(2, "Delete", "Retain");
  cluster_.Idle();
  cluster_.ScaleTo(1);
  cluster_.Idle();
  EXPECT_THAT(Claims(), ElementsAre("data-web-0", "data-web-1"));
  cluster_.Must(cluster_.Delete("statefulsets", {"default", "web"}));
  cluster_.Idle();
  EXPECT_THAT(Claims(), IsEmpty());
}

TEST_F(StatefulSetClaims, ClaimsGoWithSurplusPods) {
  Create(3, "Retain", "Delete");
  cluster_.Idle();
  const std::string uid = ClaimUid("data-web-1");
  cluster_.ScaleTo(1);
  cluster_.Idle();
  EXPECT_THAT(Claims(), ElementsAre("data-web-0"));
  cluster_.ScaleTo(2);
  cluster_.Idle();
  EXPECT_EQ(cluster_.PodStates(), "0 1");
  EXPECT_NE(ClaimUid("data-web-1"), uid);
  // A pod that is deleted and comes back keeps its claim.
  const std::string kept = ClaimUid("data-web-0");
  cluster_.Must(cluster_.Delete("pods", {"default", "web-0"}));
  cluster_.Idle();
  EXPECT_EQ(ClaimUid("data-web-0"), kept);
}

}  // namespace
}  // namespace terrarium::controllers_testing
