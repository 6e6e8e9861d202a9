#include "api/core_v1/volume_binding.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/storage_v1/storage_class.h"

namespace terrarium::api {
namespace {

ObjectPtr Stored(Json document) {
  ObjectHeader header = ReadHeader(document);
  return Object::Make(std::move(header), std::move(document));
}

Json ClaimDocument() {
  return Json::parse(R"({
    "metadata": {"namespace": "ns", "name": "data", "uid": "c1", "resourceVersion": "7"},
    "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast",
             "resources": {"requests": {"storage": "5Gi"}}}})");
}

Json VolumeDocument(const std::string& name = "pv", const std::string& size = "5Gi") {
  return {{"metadata", {{"name", name}, {"labels", {{"disk", "ssd"}}}}},
          {"spec",
           {{"accessModes", {"ReadWriteOnce", "ReadOnlyMany"}},
            {"storageClassName", "fast"},
            {"capacity", {{"storage", size}}}}},
          {"status", {{"phase", "Available"}}}};
}

VolumeClaim Claim(const Json& patch = Json::object()) {
  Json document = ClaimDocument();
  document.merge_patch(patch);
  return ReadVolumeClaim(Stored(std::move(document)));
}

Volume Pv(const Json& patch = Json::object(), const std::string& name = "pv") {
  Json document = VolumeDocument(name);
  document.merge_patch(patch);
  return ReadVolume(Stored(std::move(document)));
}

Json Spec(Json spec) { return {{"spec", std::move(spec)}}; }

TEST(VolumeClaim, IsBoundWhenItNamesAVolumeAndBindingHasCompleted) {
  EXPECT_FALSE(Claim().IsBound());
  EXPECT_FALSE(Claim(Spec({{"volumeName", "pv"}})).IsBound());
  Json bound = Spec({{"volumeName", "pv"}});
  bound["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = "yes";
  EXPECT_TRUE(Claim(bound).IsBound());
}

TEST(VolumeClaim, TheAnnotationOfTheClassWinsOverTheField) {
  EXPECT_EQ(Claim().class_name, "fast");
  EXPECT_FALSE(Claim(Spec({{"storageClassName", nullptr}})).has_class);
  const VolumeClaim none = Claim(Spec({{"storageClassName", ""}}));
  EXPECT_TRUE(none.has_class);
  EXPECT_EQ(none.class_name, "");
  const Json annotated = {
      {"metadata", {{"annotations", {{"volume.beta.kubernetes.io/storage-class", "slow"}}}}}};
  EXPECT_EQ(Claim(annotated).class_name, "slow");
}

TEST(FitsFree, ComparesWhatTheClaimAsksFor) {
  EXPECT_TRUE(FitsFree(Pv(), Claim()));
  EXPECT_TRUE(FitsFree(Pv(Spec({{"capacity", {{"storage", "6Gi"}}}})), Claim())) << "more is enough";
  EXPECT_FALSE(FitsFree(Pv(Spec({{"capacity", {{"storage", "4Gi"}}}})), Claim())) << "too small";
  EXPECT_FALSE(FitsFree(Pv(Spec({{"storageClassName", "slow"}})), Claim())) << "class";
  EXPECT_FALSE(FitsFree(Pv(Spec({{"accessModes", {"ReadOnlyMany"}}})), Claim())) << "access modes";
  EXPECT_FALSE(FitsFree(Pv(Spec({{"volumeMode", "Block"}})), Claim())) << "volume mode";
  EXPECT_FALSE(FitsFree(Pv(Spec({{"volumeAttributesClassName", "gold"}})), Claim())) << "attributes class";
  EXPECT_FALSE(FitsFree(Pv({{"status", {{"phase", "Released"}}}}), Claim())) << "phase";
  EXPECT_FALSE(FitsFree(Pv({{"metadata", {{"deletionTimestamp", "2026-01-01T00:00:00Z"}}}}), Claim()));
  EXPECT_TRUE(FitsFree(Pv(), Claim(Spec({{"selector", {{"matchLabels", {{"disk", "ssd"}}}}}}))));
  EXPECT_FALSE(FitsFree(Pv(), Claim(Spec({{"selector", {{"matchLabels", {{"disk", "hdd"}}}}}}))));
}

TEST(IsVolumeFor, AReservationWithoutUidIsForAnyClaimOfThatName) {
  auto reserved = [](Json ref) { return Pv(Spec({{"claimRef", std::move(ref)}})); };
  EXPECT_TRUE(IsVolumeFor(reserved({{"namespace", "ns"}, {"name", "data"}}), Claim()));
  EXPECT_TRUE(IsVolumeFor(reserved({{"namespace", "ns"}, {"name", "data"}, {"uid", "c1"}}), Claim()));
  EXPECT_FALSE(IsVolumeFor(reserved({{"namespace", "ns"}, {"name", "data"}, {"uid", "c2"}}), Claim()));
  EXPECT_FALSE(IsVolumeFor(reserved({{"namespace", "other"}, {"name", "data"}}), Claim()));
  EXPECT_FALSE(IsVolumeFor(Pv(), Claim()));
}

TEST(WhyMismatched, NamesTheFirstDifferenceInKubernetesWords) {
  EXPECT_EQ(WhyMismatched(Pv(), Claim()), "");
  EXPECT_EQ(WhyMismatched(Pv(Spec({{"capacity", {{"storage", "1Gi"}}}})), Claim()),
            "requested PV is too small");
  EXPECT_EQ(WhyMismatched(Pv(Spec({{"storageClassName", "slow"}})), Claim()),
            "storageClassName does not match");
  EXPECT_EQ(WhyMismatched(Pv(Spec({{"volumeMode", "Block"}})), Claim()), "incompatible volumeMode");
  EXPECT_EQ(WhyMismatched(Pv(Spec({{"accessModes", {"ReadOnlyMany"}}})), Claim()), "incompatible accessMode");
}

class VolumeOnNode : public testing::Test {
 protected:
  static Json OnZone(const std::string& zone) {
    Json term = Json::parse(R"({"matchExpressions": [{"key": "zone", "operator": "In"}]})");
    term["matchExpressions"][0]["values"] = {zone};
    Json required;
    required["nodeSelectorTerms"] = Json::array({std::move(term)});
    return Spec({{"nodeAffinity", {{"required", std::move(required)}}}});
  }
  std::string Find(std::vector<Volume> volumes, const std::set<std::string>& taken = {}) {
    std::vector<const Volume*> all;
    for (const Volume& volume : volumes) all.push_back(&volume);
    const Volume* found = FindVolumeOnNode(Claim(), all, node_, taken);
    return found == nullptr ? "" : found->name();
  }

  ObjectHeader node_ = ReadHeader({{"metadata", {{"name", "n1"}, {"labels", {{"zone", "a"}}}}}});
};

TEST_F(VolumeOnNode, IsTheSmallestThatFitsThenTheFirstByName) {
  const Json large = Spec({{"capacity", {{"storage", "9Gi"}}}});
  EXPECT_EQ(Find({Pv(large, "a"), Pv({}, "c"), Pv({}, "b")}), "b");
  EXPECT_EQ(Find({Pv(large, "a"), Pv({}, "c"), Pv({}, "b")}, {"b", "c"}), "a");
  EXPECT_EQ(Find({}), "");
}

TEST_F(VolumeOnNode, MatchesTheNodesLabels) {
  EXPECT_EQ(Find({Pv(OnZone("a"), "a")}), "a");
  EXPECT_EQ(Find({Pv(OnZone("b"), "b")}), "");
}

TEST_F(VolumeOnNode, AReservedVolumeIsTheOnlyChoice) {
  Json reserved = OnZone("b");
  reserved["spec"]["claimRef"] = {{"namespace", "ns"}, {"name", "data"}};
  EXPECT_EQ(Find({Pv({}, "a"), Pv(Spec({{"claimRef", reserved["spec"]["claimRef"]}}), "b")}), "b");
  EXPECT_EQ(Find({Pv(reserved, "a"), Pv({}, "b")}), "") << "it is on another node";
}

TEST(BindVolumeToClaim, MarksWhatTheControllerBound) {
  Json volume = VolumeDocument();
  EXPECT_EQ(BindVolumeToClaim(volume, Claim()), Binding::kChanged);
  EXPECT_EQ(volume["spec"]["claimRef"],
            Json::parse(R"({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": "data",
                            "namespace": "ns", "resourceVersion": "7", "uid": "c1"})"));
  EXPECT_EQ(volume["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"], "yes");
  EXPECT_EQ(BindVolumeToClaim(volume, Claim()), Binding::kUnchanged);
}

TEST(BindVolumeToClaim, AReservationOfTheUserGetsTheUidAlone) {
  Json volume = VolumeDocument();
  volume["spec"]["claimRef"] = {{"namespace", "ns"}, {"name", "data"}};
  EXPECT_EQ(BindVolumeToClaim(volume, Claim()), Binding::kChanged);
  EXPECT_EQ(volume["spec"]["claimRef"]["uid"], "c1");
  EXPECT_FALSE(volume["metadata"].contains("annotations"));
}

TEST(ClaimsOfPod, AnEphemeralVolumeHasAClaimNamedAfterPodAndVolume) {
  const ObjectPtr pod = Stored(Json::parse(R"({
    "metadata": {"namespace": "ns", "name": "web", "uid": "p1"},
    "spec": {"volumes": [{"name": "tmp", "emptyDir": {}},
                         {"name": "data", "persistentVolumeClaim": {"claimName": "disk"}},
                         {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}]}})"));
  const std::vector<PodClaim> claims = ClaimsOfPod(*pod);
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[0].claim, "disk");
  EXPECT_FALSE(claims[0].ephemeral);
  EXPECT_EQ(claims[1].claim, "web-scratch");
  EXPECT_TRUE(claims[1].ephemeral);
  EXPECT_EQ(WhyNotForPod(*Claim().object, *pod),
            "PVC ns/data was not created for pod ns/web (pod is not owner)");
}

ObjectPtr Class(const std::string& name, const std::string& created, const std::string& is_default = "true") {
  return Stored({{"metadata",
                  {{"name", name},
                   {"creationTimestamp", created},
                   {"annotations", {{"storageclass.kubernetes.io/is-default-class", is_default}}}}}});
}

TEST(DefaultClass, IsTheNewestThenTheFirstByName) {
  const std::string early = "2026-01-01T00:00:00Z", late = "2026-01-02T00:00:00Z";
  EXPECT_EQ(DefaultClass({}), nullptr);
  EXPECT_EQ(DefaultClass({Class("a", early, "false")}), nullptr);
  EXPECT_EQ(DefaultClass({Class("a", early), Class("b", late)})->name().name, "b");
  EXPECT_EQ(DefaultClass({Class("c", late), Class("b", late), Class("a", early)})->name().name, "b");
}

}  // namespace
}  // namespace terrarium::api
