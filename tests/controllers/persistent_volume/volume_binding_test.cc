// Claims and volumes in a whole cluster, without a driver.

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/runtime/why.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::StringAt;
using testbed::Testbed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr const char* kControllers =
    "persistentvolume-binder-controller,persistentvolume-protection-controller,"
    "persistentvolumeclaim-protection-controller";

class VolumeBinding : public testing::Test {
 protected:
  void CreateVolume(const std::string& name, const std::string& size = "5Gi", Json spec = Json::object()) {
    Json volume = {{"metadata", {{"name", name}}},
                   {"spec",
                    {{"accessModes", {"ReadWriteOnce"}},
                     {"capacity", {{"storage", size}}},
                     {"storageClassName", "manual"},
                     {"hostPath", {{"path", "/tmp/" + name}}}}}};
    volume["spec"].merge_patch(spec);
    Testbed::Must(bed_.Create("persistentvolumes", "", volume));
  }
  void CreateClaim(const std::string& name, Json spec = Json::object()) {
    Json claim = {{"metadata", {{"name", name}}},
                  {"spec",
                   {{"accessModes", {"ReadWriteOnce"}},
                    {"storageClassName", "manual"},
                    {"resources", {{"requests", {{"storage", "2Gi"}}}}}}}};
    claim["spec"].merge_patch(spec);
    Testbed::Must(bed_.Create("persistentvolumeclaims", "default", claim));
  }
  void CreateClass(const std::string& name, Json fields = Json::object()) {
    Json storage_class = {{"metadata", {{"name", name}}}, {"provisioner", "example.com/disk"}};
    storage_class.merge_patch(fields);
    Testbed::Must(bed_.Create("storageclasses", "", storage_class));
  }
  void Settle() { bed_.clock().RunUntilIdle(1s); }
  Json Claim(const std::string& name) { return bed_.Get("persistentvolumeclaims", "default", name)->Parse(); }
  Json Volume(const std::string& name) { return bed_.Get("persistentvolumes", "", name)->Parse(); }
  // The volume that the claim has, with the phases of both: "pv Bound Bound".
  std::string Bound(const std::string& claim) {
    const Json document = Claim(claim);
    const std::string volume(StringAt(document, "spec", "volumeName"));
    if (volume.empty()) return std::string(StringAt(document, "status", "phase"));
    return volume + " " + std::string(StringAt(document, "status", "phase")) + " " + Phase(volume);
  }
  std::string Phase(const std::string& volume) {
    const auto object = bed_.Get("persistentvolumes", "", volume);
    return object == nullptr ? "gone" : object->header().phase.text();
  }
  std::vector<std::string> Events(const char* kind, const std::string& name) {
    std::vector<std::string> texts;
    for (const testbed::EventView& event : bed_.Events(kind, name))
      texts.push_back(std::string(event.reason()) + ": " + std::string(event.message()));
    return texts;
  }
  void DeleteClaim(const std::string& name) {
    Testbed::Must(bed_.Delete("persistentvolumeclaims", {"default", name}));
    Settle();
  }

  Testbed bed_{{.controllers = kControllers, .nodes = 0}};
};

TEST_F(VolumeBinding, AClaimGetsTheSmallestVolumeThatFits) {
  CreateVolume("large", "9Gi");
  CreateVolume("fitting", "3Gi");
  CreateVolume("small", "1Gi");
  Settle();
  EXPECT_EQ(Phase("fitting"), "Available");
  CreateClaim("data");
  Settle();
  EXPECT_EQ(Bound("data"), "fitting Bound Bound");
  const Json claim = Claim("data");
  EXPECT_EQ(claim["status"]["capacity"]["storage"], "3Gi");
  EXPECT_EQ(claim["status"]["accessModes"], Json({"ReadWriteOnce"}));
  EXPECT_EQ(claim["metadata"]["annotations"], Json({{"pv.kubernetes.io/bind-completed", "yes"},
                                                    {"pv.kubernetes.io/bound-by-controller", "yes"}}));
  const Json volume = Volume("fitting");
  EXPECT_EQ(volume["metadata"]["annotations"], Json({{"pv.kubernetes.io/bound-by-controller", "yes"}}));
  EXPECT_EQ(volume["spec"]["claimRef"]["name"], "data");
  EXPECT_EQ(volume["spec"]["claimRef"]["uid"], claim["metadata"]["uid"]);
  const auto why = bed_.why().Find("persistentvolumes", {"", "fitting"});
  ASSERT_EQ(why.size(), 1u);
  EXPECT_EQ(why[0].rule, "the smallest free volume that fits");
}

TEST_F(VolumeBinding, AVolumeWithFewerAccessModesIsPreferredToASmallerOne) {
  CreateVolume("both", "2Gi", {{"accessModes", {"ReadWriteOnce", "ReadWriteMany"}}});
  CreateVolume("one", "5Gi");
  Settle();
  CreateClaim("data");
  Settle();
  EXPECT_EQ(Bound("data"), "one Bound Bound");
}

TEST_F(VolumeBinding, AWaitingClaimGetsAVolumeAsSoonAsThereIsOne) {
  CreateClaim("a");
  CreateClaim("b");
  Settle();
  EXPECT_EQ(Bound("a"), "Pending");
  CreateVolume("one");
  CreateVolume("two");
  Settle();
  EXPECT_EQ(Bound("a").substr(4), "Bound Bound");
  EXPECT_EQ(Bound("b").substr(4), "Bound Bound");
}

TEST_F(VolumeBinding, WithoutAClassAClaimReportsThatThereIsNoVolume) {
  CreateClaim("data", {{"storageClassName", ""}});
  Settle();
  EXPECT_THAT(
      Events("PersistentVolumeClaim", "data"),
      ElementsAre("FailedBinding: no persistent volumes available for this claim and no storage class "
                  "is set"));
  CreateVolume("pv", "5Gi", {{"storageClassName", nullptr}});
  Settle();
  EXPECT_EQ(Bound("data"), "pv Bound Bound");
}

TEST_F(VolumeBinding, ASelectorRestrictsTheVolumes) {
  CreateVolume("plain");
  Settle();
  CreateClaim("data", {{"selector", {{"matchLabels", {{"disk", "ssd"}}}}}});
  Settle();
  EXPECT_EQ(Bound("data"), "Pending");
  Testbed::Must(
      bed_.Patch("persistentvolumes", {"", "plain"}, {{"metadata", {{"labels", {{"disk", "ssd"}}}}}}));
  Settle();
  EXPECT_EQ(Bound("data"), "plain Bound Bound");
}

TEST_F(VolumeBinding, AReservedVolumeIsForItsClaim) {
  CreateVolume("reserved", "9Gi", {{"claimRef", {{"namespace", "default"}, {"name", "data"}}}});
  CreateVolume("free", "2Gi");
  Settle();
  EXPECT_EQ(Phase("reserved"), "Available");
  CreateClaim("data");
  CreateClaim("other");
  Settle();
  EXPECT_EQ(Bound("data"), "reserved Bound Bound");
  EXPECT_EQ(Bound("other"), "free Bound Bound");
  EXPECT_FALSE(Volume("reserved")["metadata"].contains("annotations")) << "the user has bound it";
}

TEST_F(VolumeBinding, AClaimThatNamesItsVolumeWaitsForIt) {
  CreateClaim("data", {{"volumeName", "mine"}});
  Settle();
  EXPECT_EQ(Claim("data")["status"]["phase"], "Pending");
  CreateVolume("mine");
  Settle();
  EXPECT_EQ(Bound("data"), "mine Bound Bound");
  EXPECT_EQ(Claim("data")["metadata"]["annotations"], Json({{"pv.kubernetes.io/bind-completed", "yes"}}));
}

TEST_F(VolumeBinding, AVolumeThatDoesNotSuitTheClaimThatNamesItIsReported) {
  CreateVolume("tiny", "1Gi");
  Settle();
  CreateClaim("data", {{"volumeName", "tiny"}});
  Settle();
  EXPECT_THAT(
      Events("PersistentVolumeClaim", "data"),
      ElementsAre("VolumeMismatch: Cannot bind to requested volume \"tiny\": requested PV is too small"));
  CreateVolume("taken");
  CreateClaim("first", {{"volumeName", "taken"}});
  Settle();
  CreateClaim("second", {{"volumeName", "taken"}});
  Settle();
  EXPECT_THAT(Events("PersistentVolumeClaim", "second"),
              ElementsAre("FailedBinding: volume \"taken\" already bound to a different claim."));
}

TEST_F(VolumeBinding, AClaimWithoutItsVolumeIsLost) {
  CreateVolume("pv");
  Settle();
  CreateClaim("data");
  Settle();
  Testbed::Must(bed_.Delete("persistentvolumes", {"", "pv"}));
  Settle();
  EXPECT_EQ(Phase("pv"), "Bound") << "protected while it is bound";
  Testbed::Must(bed_.Patch("persistentvolumes", {"", "pv"}, {{"metadata", {{"finalizers", nullptr}}}}));
  Settle();
  const Json claim = Claim("data");
  EXPECT_EQ(claim["status"], Json({{"phase", "Lost"}}));
  EXPECT_THAT(
      Events("PersistentVolumeClaim", "data"),
      ElementsAre("ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!"));
}

TEST_F(VolumeBinding, ARetainedVolumeIsReleasedAndStays) {
  CreateVolume("pv");
  CreateClaim("data");
  Settle();
  DeleteClaim("data");
  EXPECT_EQ(bed_.Get("persistentvolumeclaims", "default", "data"), nullptr);
  EXPECT_EQ(Phase("pv"), "Released");
  CreateClaim("data");
  Settle();
  EXPECT_EQ(Bound("data"), "Pending") << "the volume is of the claim that is gone";
}

TEST_F(VolumeBinding, ARecycledVolumeIsFreeAgain) {
  CreateVolume("pv", "5Gi", {{"persistentVolumeReclaimPolicy", "Recycle"}});
  CreateClaim("data");
  Settle();
  DeleteClaim("data");
  EXPECT_EQ(Phase("pv"), "Available");
  EXPECT_FALSE(Volume("pv")["spec"].contains("claimRef"));
  EXPECT_THAT(Events("PersistentVolume", "pv"), ElementsAre("VolumeRecycled: Volume recycled"));
}

TEST_F(VolumeBinding, ADeletableVolumeIsDeletedWithItsClaim) {
  CreateVolume("pv", "5Gi", {{"persistentVolumeReclaimPolicy", "Delete"}});
  CreateClaim("data");
  Settle();
  DeleteClaim("data");
  EXPECT_EQ(Phase("pv"), "gone");
}

TEST_F(VolumeBinding, AVolumeThatNoPluginDeletesFails) {
  CreateVolume("pv", "5Gi",
               {{"persistentVolumeReclaimPolicy", "Delete"},
                {"hostPath", nullptr},
                {"nfs", {{"server", "nas"}, {"path", "/"}}}});
  CreateClaim("data");
  Settle();
  DeleteClaim("data");
  EXPECT_EQ(Phase("pv"), "Failed");
  const std::string why =
      "error getting deleter volume plugin for volume \"pv\": no deletable volume plugin matched";
  EXPECT_EQ(Volume("pv")["status"]["message"], why);
  EXPECT_THAT(Events("PersistentVolume", "pv"), ElementsAre("VolumeFailedDelete: " + why));
}

TEST_F(VolumeBinding, AnExternalProvisionerIsAskedForTheVolume) {
  CreateClass("fast");
  CreateClaim("data", {{"storageClassName", "fast"}});
  Settle();
  EXPECT_EQ(Claim("data")["metadata"]["annotations"],
            Json({{"volume.beta.kubernetes.io/storage-provisioner", "example.com/disk"},
                  {"volume.kubernetes.io/storage-provisioner", "example.com/disk"}}));
  EXPECT_THAT(
      Events("PersistentVolumeClaim", "data"),
      ElementsAre(
          "ExternalProvisioning: Waiting for a volume to be created either by the external provisioner "
          "'example.com/disk' or manually by the system administrator. If volume creation is delayed, "
          "please verify that the provisioner is running and correctly registered."));
  CreateVolume("pv", "5Gi", {{"storageClassName", "fast"}});
  Settle();
  EXPECT_EQ(Bound("data"), "pv Bound Bound");
}

TEST_F(VolumeBinding, AnInTreePluginIsPlayedByItsCsiDriver) {
  CreateClass("ebs", {{"provisioner", "kubernetes.io/aws-ebs"}});
  CreateClass("odd", {{"provisioner", "kubernetes.io/odd"}});
  CreateClaim("data", {{"storageClassName", "ebs"}});
  CreateClaim("odd", {{"storageClassName", "odd"}});
  CreateClaim("none", {{"storageClassName", "none"}});
  Settle();
  EXPECT_EQ(Claim("data")["metadata"]["annotations"]["volume.kubernetes.io/storage-provisioner"],
            "ebs.csi.aws.com");
  EXPECT_THAT(Events("PersistentVolumeClaim", "odd"),
              ElementsAre("ProvisioningFailed: no volume plugin matched name: kubernetes.io/odd"));
  EXPECT_THAT(Events("PersistentVolumeClaim", "none"),
              ElementsAre("ProvisioningFailed: storageclass.storage.k8s.io \"none\" not found"));
}

TEST_F(VolumeBinding, ADelayedClaimWaitsForItsFirstConsumer) {
  CreateClass("local", {{"provisioner", "kubernetes.io/no-provisioner"},
                        {"volumeBindingMode", "WaitForFirstConsumer"}});
  CreateVolume("pv", "5Gi", {{"storageClassName", "local"}});
  CreateClaim("data", {{"storageClassName", "local"}});
  Settle();
  EXPECT_EQ(Bound("data"), "Pending");
  EXPECT_EQ(Phase("pv"), "Available");
  Testbed::Must(
      bed_.Create("pods", "default",
                  {{"metadata", {{"name", "web"}}},
                   {"spec",
                    {{"nodeSelector", {{"none", "such"}}},
                     {"containers", {{{"name", "c"}, {"image", "i"}}}},
                     {"volumes", {{{"name", "v"}, {"persistentVolumeClaim", {{"claimName", "data"}}}}}}}}}));
  bed_.clock().Advance(15s);
  EXPECT_THAT(Events("PersistentVolumeClaim", "data"),
              ElementsAre("WaitForFirstConsumer: waiting for first consumer to be created before binding",
                          "WaitForPodScheduled: waiting for pod web to be scheduled"));
  // The scheduler chooses the volume.
  const std::string uid(StringAt(Claim("data"), "metadata", "uid"));
  Testbed::Must(
      bed_.Patch("persistentvolumes", {"", "pv"},
                 {{"metadata", {{"annotations", {{"pv.kubernetes.io/bound-by-controller", "yes"}}}}},
                  {"spec", {{"claimRef", {{"namespace", "default"}, {"name", "data"}, {"uid", uid}}}}}}));
  Settle();
  EXPECT_EQ(Bound("data"), "pv Bound Bound");
}

TEST_F(VolumeBinding, AClaimWithoutAClassGetsTheDefaultClassWhenThereIsOne) {
  CreateClaim("data", {{"storageClassName", nullptr}});
  Settle();
  EXPECT_FALSE(Claim("data")["spec"].contains("storageClassName"));
  const Json is_default = {
      {"metadata", {{"annotations", {{"storageclass.kubernetes.io/is-default-class", "true"}}}}}};
  CreateClass("fast", is_default);
  Settle();
  EXPECT_EQ(Claim("data")["spec"]["storageClassName"], "fast");
  CreateClaim("later", {{"storageClassName", nullptr}});
  EXPECT_EQ(Claim("later")["spec"]["storageClassName"], "fast") << "by admission";
  Settle();
  apiserver::Request request;
  request.method = "GET";
  request.path = "/metrics";
  const std::string metrics = bed_.Serve(std::move(request)).body;
  EXPECT_THAT(metrics, HasSubstr("retroactive_storageclass_total 1"));
  EXPECT_THAT(metrics,
              HasSubstr("pv_collector_unbound_pvc_count{namespace=\"default\",storage_class=\"fast\","
                        "volume_attributes_class=\"\"} 2"));
}

TEST_F(VolumeBinding, AVolumeOfAnotherModeIsNotBound) {
  CreateVolume("block", "5Gi", {{"volumeMode", "Block"}});
  Settle();
  CreateClaim("data");
  Settle();
  EXPECT_EQ(Bound("data"), "Pending");
}

TEST_F(VolumeBinding, AWaitingClaimDoesNotKeepTheClusterBusy) {
  CreateClass("fast");
  CreateClaim("data", {{"storageClassName", "fast"}});
  EXPECT_EQ(bed_.clock().RunUntilIdle(1h).why, testbed::RunOutcome::Why::kIdle);
}

}  // namespace
}  // namespace terrarium::controllers
