#include "controllers/statefulset/internal/claim_ownership.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::statefulset {
namespace {

using api::Json;

ClaimParties Parties(bool scaled, bool deleted, bool condemned) {
  return {.set_name = "web",
          .set_uid = "set-uid",
          .pod_name = "web-0",
          .pod_uid = "pod-uid",
          .policy = {.deletes_when_deleted = deleted, .deletes_when_scaled = scaled},
          .pod_is_condemned = condemned};
}

Json Reference(const char* api_version, const char* kind, const char* name, const char* uid,
               bool controller = true) {
  Json reference = {{"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", uid}};
  if (controller) {
    reference["controller"] = true;
    reference["blockOwnerDeletion"] = true;
  }
  return reference;
}

const Json kSet = Reference("apps/v1", "StatefulSet", "web", "set-uid");
const Json kPod = Reference("v1", "Pod", "web-0", "pod-uid");
const Json kPlainSet = Reference("apps/v1", "StatefulSet", "web", "set-uid", false);
const Json kOldSet = Reference("apps/v1", "StatefulSet", "web", "old-uid");
const Json kOldPod = Reference("v1", "Pod", "web-0", "old-uid");
const Json kOther = Reference("v1", "ConfigMap", "other", "other-uid");
const Json kPlainOther = Reference("v1", "ConfigMap", "other", "other-uid", false);

struct PolicyRow {
  bool scaled;
  bool deleted;
  bool condemned;
  Json owners;
};

TEST(ClaimOwnership, FollowsThePolicy) {
  const PolicyRow rows[] = {
      {false, false, false, Json::array()},      {false, false, true, Json::array()},
      {false, true, false, Json::array({kSet})}, {false, true, true, Json::array({kSet})},
      {true, false, false, Json::array()},       {true, false, true, Json::array({kPod})},
      {true, true, false, Json::array({kSet})},  {true, true, true, Json::array({kPod})},
  };
  const Json starts[] = {Json::array(), Json::array({kSet}), Json::array({kPod}), Json::array({kSet, kPod}),
                         Json::array({kPlainSet})};
  for (const PolicyRow& row : rows) {
    const ClaimParties parties = Parties(row.scaled, row.deleted, row.condemned);
    for (const Json& start : starts) {
      SCOPED_TRACE(start.dump());
      EXPECT_EQ(OwnersMatch(start, parties), start == row.owners);
      const Json wanted = WantedOwners(start, parties);
      EXPECT_EQ(wanted, row.owners);
      EXPECT_TRUE(OwnersMatch(wanted, parties));
    }
  }
}

TEST(ClaimOwnership, OtherOwnersAreKept) {
  const ClaimParties parties = Parties(false, true, false);
  const Json start = Json::array({kPlainOther});
  EXPECT_FALSE(HasForeignController(start, parties));
  EXPECT_FALSE(OwnersMatch(start, parties));
  EXPECT_EQ(WantedOwners(start, parties), Json::array({kPlainOther, kSet}));
}

TEST(ClaimOwnership, AForeignControllerSuspendsThePolicy) {
  const ClaimParties parties = Parties(true, true, false);
  EXPECT_TRUE(HasForeignController(Json::array({kOther}), parties));
  EXPECT_TRUE(OwnersMatch(Json::array({kOther}), parties));
  // The set's own reference goes.
  EXPECT_FALSE(OwnersMatch(Json::array({kOther, kSet}), parties));
  EXPECT_EQ(WantedOwners(Json::array({kOther, kSet}), parties), Json::array({kOther}));
  // Under Retain it does not matter who controls the claim.
  EXPECT_FALSE(HasForeignController(Json::array({kOther}), Parties(false, false, false)));
}

TEST(ClaimOwnership, ClaimsOfEarlierOwnersAreLeftToTheGarbageCollector) {
  const ClaimParties parties = Parties(true, true, false);
  EXPECT_TRUE(IsOfEarlierPod(Json::array({kOldPod}), parties));
  EXPECT_FALSE(IsOfEarlierPod(Json::array({kPod}), parties));
  EXPECT_FALSE(IsOfEarlierPod(Json::array(), parties));
  for (const Json& stale : {Json::array({kOldPod}), Json::array({kOldSet}), Json::array({kOldSet, kPod})}) {
    EXPECT_TRUE(OwnersMatch(stale, parties)) << stale;
    EXPECT_TRUE(HasForeignController(stale, parties)) << stale;
  }
  // A pod that does not exist yet has no uid: any reference by its name is to an earlier pod.
  ClaimParties coming = parties;
  coming.pod_uid = "";
  EXPECT_TRUE(IsOfEarlierPod(Json::array({kPod}), coming));
}

}  // namespace
}  // namespace terrarium::controllers::statefulset
