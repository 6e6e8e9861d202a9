#include "controllers/persistent_volume/internal/binding_cache.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace terrarium::controllers::persistent_volume {
namespace {

using api::Json;
using api::ObjectPtr;
using Free = BindingCache::Free;

class BindingCacheTest : public testing::Test {
 protected:
  ObjectPtr Stored(Json document) {
    api::ObjectHeader header = api::ReadHeader(document);
    header.revision = ++revision_;
    return api::Object::Make(std::move(header), std::move(document));
  }
  void PutVolume(const std::string& name, const std::string& size, Json spec = Json::object(),
                 const char* phase = "Available") {
    Json document = {{"metadata", {{"name", name}}},
                     {"spec",
                      {{"accessModes", {"ReadWriteOnce"}},
                       {"capacity", {{"storage", size}}},
                       {"storageClassName", "fast"}}},
                     {"status", {{"phase", phase}}}};
    document["spec"].merge_patch(spec);
    cache_.PutVolume(Stored(std::move(document)));
  }
  api::VolumeClaim Claim(Json spec = Json::object(), const std::string& name = "data") {
    Json document = {{"metadata", {{"namespace", "ns"}, {"name", name}, {"uid", name + "-uid"}}},
                     {"spec",
                      {{"accessModes", {"ReadWriteOnce"}},
                       {"storageClassName", "fast"},
                       {"resources", {{"requests", {{"storage", "2Gi"}}}}}}}};
    document["spec"].merge_patch(spec);
    return api::ReadVolumeClaim(Stored(std::move(document)));
  }
  std::string Best(const api::VolumeClaim& claim, Free free = Free::kIncluded) {
    const VolumePtr volume = cache_.BestMatch(claim, free);
    return volume == nullptr ? "" : volume->name();
  }

  std::int64_t revision_ = 0;
  int volume_changes_ = 0;
  BindingCache cache_{[this](const VolumePtr&, const VolumePtr&) { ++volume_changes_; },
                      [](const ClaimPtr&, const ClaimPtr&) {}};
};

TEST_F(BindingCacheTest, FindsTheSmallestThenTheFirstByName) {
  PutVolume("c", "3Gi");
  PutVolume("b", "3Gi");
  PutVolume("a", "4Gi");
  PutVolume("tiny", "1Gi");
  EXPECT_EQ(Best(Claim()), "b");
  cache_.RemoveVolume("b");
  EXPECT_EQ(Best(Claim()), "c");
  PutVolume("c", "3Gi", Json::object(), "Bound");
  EXPECT_EQ(Best(Claim()), "a");
  EXPECT_EQ(Best(Claim({{"storageClassName", "slow"}})), "");
}

TEST_F(BindingCacheTest, FewAccessModesGoBeforeSmallSizeAndReservationsBeforeBoth) {
  PutVolume("many", "2Gi", {{"accessModes", {"ReadWriteOnce", "ReadOnlyMany"}}});
  PutVolume("few", "9Gi");
  EXPECT_EQ(Best(Claim()), "few");
  EXPECT_EQ(Best(Claim({{"accessModes", {"ReadOnlyMany"}}})), "many");
  PutVolume("mine", "9Gi", {{"claimRef", {{"namespace", "ns"}, {"name", "data"}}}});
  EXPECT_EQ(Best(Claim()), "mine");
  EXPECT_EQ(Best(Claim(), Free::kExcluded), "mine");
  EXPECT_EQ(Best(Claim(Json::object(), "other"), Free::kExcluded), "");
}

TEST_F(BindingCacheTest, IgnoresAnOlderVersion) {
  Json document = {{"metadata", {{"name", "pv"}}}, {"status", {{"phase", "Available"}}}};
  const ObjectPtr old = Stored(document);
  document["status"]["phase"] = "Bound";
  cache_.PutVolume(Stored(document));
  cache_.PutVolume(old);
  EXPECT_EQ(cache_.Volume("pv")->header().phase.text(), "Bound");
  EXPECT_EQ(volume_changes_, 1);
}

TEST_F(BindingCacheTest, KnowsWhichClaimsWait) {
  cache_.PutClaim(Claim().object);
  cache_.PutClaim(Claim({{"storageClassName", nullptr}}, "classless").object);
  cache_.PutClaim(Claim({{"volumeName", "pv"}}, "named").object);
  EXPECT_EQ(cache_.WaitingClaims("fast").size(), 1u);
  EXPECT_EQ(cache_.WaitingClaims(std::nullopt).size(), 1u);
  EXPECT_EQ(cache_.ClaimsNaming("pv").size(), 1u);
  PutVolume("free", "5Gi");
  const auto free = cache_.Volume("free");
  EXPECT_EQ(cache_.WaitingClaimFor(*free, {})->header().name, "data");
  EXPECT_EQ(cache_.WaitingClaimFor(*free, {{"ns", "data"}}), nullptr);
  cache_.PutClaim(Claim({{"volumeName", "free"}}).object);
  EXPECT_EQ(cache_.WaitingClaims("fast").size(), 0u);
  cache_.RemoveClaim({"ns", "named"});
  EXPECT_EQ(cache_.ClaimsNaming("pv").size(), 0u);
}

}  // namespace
}  // namespace terrarium::controllers::persistent_volume
