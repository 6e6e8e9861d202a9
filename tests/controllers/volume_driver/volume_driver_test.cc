// The fake volume driver in a whole cluster, beside the binder.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::StringAt;
using testbed::RunOutcome;
using testbed::Testbed;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;

class VolumeDriver : public testing::Test {
 protected:
  void CreateClass(const std::string& name, const Json& parameters = Json::object(),
                   const Json& fields = Json::object()) {
    Json storage_class = {
        {"metadata", {{"name", name}}}, {"provisioner", "disk.example.com"}, {"allowVolumeExpansion", true}};
    if (!parameters.empty()) storage_class["parameters"] = parameters;
    storage_class.merge_patch(fields);
    Testbed::Must(bed_.Create("storageclasses", "", storage_class));
  }
  void CreateClaim(const std::string& name, const std::string& storage_class = "") {
    Json claim = {
        {"metadata", {{"name", name}}},
        {"spec", {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "2Gi"}}}}}}}};
    if (!storage_class.empty()) claim["spec"]["storageClassName"] = storage_class;
    Testbed::Must(bed_.Create("persistentvolumeclaims", "default", claim));
  }
  Testbed::Written Grow(const std::string& name, const char* size) {
    return bed_.Patch("persistentvolumeclaims", {"default", name},
                      {{"spec", {{"resources", {{"requests", {{"storage", size}}}}}}}});
  }
  RunOutcome Settle() { return bed_.clock().RunUntilIdle(1s); }
  Json Claim(const std::string& name) { return bed_.Get("persistentvolumeclaims", "default", name)->Parse(); }
  std::string Phase(const std::string& claim) {
    return std::string(StringAt(Claim(claim), "status", "phase"));
  }
  Json VolumeOf(const std::string& claim) {
    const std::string name = "pvc-" + std::string(StringAt(Claim(claim), "metadata", "uid"));
    const auto object = bed_.Get("persistentvolumes", "", name);
    return object == nullptr ? Json() : object->Parse();
  }
  std::vector<std::string> Reasons(const char* kind, const std::string& name) {
    std::vector<std::string> reasons;
    for (const testbed::EventView& event : bed_.Events(kind, name)) reasons.emplace_back(event.reason());
    return reasons;
  }
  std::vector<std::string> Messages(const std::string& claim, std::string_view reason) {
    std::vector<std::string> messages;
    for (const testbed::EventView& event : bed_.Events("PersistentVolumeClaim", claim))
      if (event.reason() == reason) messages.emplace_back(event.message());
    return messages;
  }
  void SelectNode(const std::string& claim, const std::string& node) {
    Testbed::Must(
        bed_.Patch("persistentvolumeclaims", {"default", claim},
                   {{"metadata", {{"annotations", {{"volume.kubernetes.io/selected-node", node}}}}}}));
  }

  Testbed bed_{{.kubelet = true, .scheduler = false, .nodes = 2}};
};

TEST_F(VolumeDriver, AClaimWithoutAClassGetsAVolumeOfTheStandardClass) {
  Settle();
  CreateClaim("data");
  EXPECT_EQ(Settle().why, RunOutcome::Why::kIdle);
  EXPECT_EQ(Phase("data"), "Bound");
  const Json volume = VolumeOf("data");
  EXPECT_EQ(volume["status"]["phase"], "Bound");
  EXPECT_EQ(volume["spec"]["capacity"]["storage"], "2Gi");
  EXPECT_EQ(volume["spec"]["storageClassName"], "standard");
  EXPECT_EQ(volume["spec"]["persistentVolumeReclaimPolicy"], "Delete");
  EXPECT_EQ(volume["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"], "terrarium.dev/volumes");
  EXPECT_FALSE(volume["spec"].contains("nodeAffinity"));
  EXPECT_THAT(Reasons("PersistentVolumeClaim", "data"),
              testing::UnorderedElementsAre("ExternalProvisioning", "Provisioning", "ProvisioningSucceeded"));
}

TEST_F(VolumeDriver, TheStandardClassStaysDeletedBesideAnotherOne) {
  Settle();
  CreateClass("own");
  Testbed::Must(bed_.Delete("storageclasses", {"", "standard"}));
  ASSERT_TRUE(bed_.Restart("controller-manager").ok());
  Settle();
  EXPECT_EQ(bed_.Get("storageclasses", "", "standard"), nullptr);
}

TEST_F(VolumeDriver, TheVolumeIsOfTheDriverThatTheClassNames) {
  CreateClass("fast", Json::object(), {{"mountOptions", {"noatime"}}, {"reclaimPolicy", "Retain"}});
  CreateClaim("data", "fast");
  Settle();
  const Json volume = VolumeOf("data");
  EXPECT_EQ(volume["spec"]["csi"]["driver"], "disk.example.com");
  EXPECT_EQ(volume["spec"]["csi"]["fsType"], "ext4");
  EXPECT_EQ(volume["spec"]["mountOptions"], Json({"noatime"}));
  EXPECT_EQ(volume["spec"]["persistentVolumeReclaimPolicy"], "Retain");
  EXPECT_EQ(volume["metadata"]["finalizers"], Json({"kubernetes.io/pv-protection"}));
}

TEST_F(VolumeDriver, AVolumeGoesWithItsClaim) {
  CreateClass("fast");
  CreateClaim("data", "fast");
  Settle();
  Testbed::Must(bed_.Delete("persistentvolumeclaims", {"default", "data"}));
  EXPECT_EQ(Settle().why, RunOutcome::Why::kIdle);
  EXPECT_THAT(bed_.List("persistentvolumes"), IsEmpty());
  EXPECT_THAT(bed_.List("persistentvolumeclaims"), IsEmpty());
}

TEST_F(VolumeDriver, ProvisioningAndDeletionTakeTheirTime) {
  CreateClass("slow", {{"terrarium.dev/provision-delay", "1m"}, {"terrarium.dev/delete-delay", "30s"}});
  CreateClaim("data", "slow");
  bed_.clock().Advance(59s);
  EXPECT_EQ(Phase("data"), "Pending");
  bed_.clock().Advance(2s);
  EXPECT_EQ(Phase("data"), "Bound");
  Testbed::Must(bed_.Delete("persistentvolumeclaims", {"default", "data"}));
  bed_.clock().Advance(29s);
  ASSERT_EQ(bed_.List("persistentvolumes").size(), 1u);
  EXPECT_EQ(bed_.List("persistentvolumes")[0]->header().phase.text(), "Released");
  bed_.clock().Advance(2s);
  EXPECT_THAT(bed_.List("persistentvolumes"), IsEmpty());
}

TEST_F(VolumeDriver, AFailureIsReportedAndIsHousekeeping) {
  CreateClass("full", {{"terrarium.dev/provision-error", "out of space"}});
  CreateClaim("data", "full");
  EXPECT_EQ(bed_.clock().RunUntilIdle(1h).why, RunOutcome::Why::kIdle);
  EXPECT_EQ(Phase("data"), "Pending");
  EXPECT_THAT(Messages("data", "ProvisioningFailed"),
              ElementsAre("failed to provision volume with StorageClass \"full\": out of space"));
  Testbed::Must(bed_.Delete("storageclasses", {"", "full"}));
  CreateClass("full");
  Settle();
  EXPECT_EQ(Phase("data"), "Bound") << "the class has been replaced by one that works";
}

TEST_F(VolumeDriver, AFailureThatEndsIsWork) {
  CreateClass("flaky",
              {{"terrarium.dev/provision-error", "try later"}, {"terrarium.dev/provision-failures", "3"}});
  CreateClaim("data", "flaky");
  EXPECT_EQ(bed_.clock().RunUntilIdle(1min).why, RunOutcome::Why::kIdle);
  EXPECT_EQ(Phase("data"), "Bound") << "after 1, 2 and 4 s";
}

TEST_F(VolumeDriver, AVolumeThatCannotBeDeletedStaysReleased) {
  CreateClass("sticky", {{"terrarium.dev/delete-error", "still attached"}});
  CreateClaim("data", "sticky");
  Settle();
  const std::string volume(StringAt(VolumeOf("data"), "metadata", "name"));
  Testbed::Must(bed_.Delete("persistentvolumeclaims", {"default", "data"}));
  Settle();
  EXPECT_EQ(bed_.Get("persistentvolumes", "", volume)->header().phase.text(), "Released");
  EXPECT_THAT(Reasons("PersistentVolume", volume), ElementsAre("VolumeFailedDelete"));
}

TEST_F(VolumeDriver, AClassCanBeLeftToAnotherDriver) {
  CreateClass("own", {{"terrarium.dev/provision", "false"}});
  CreateClaim("data", "own");
  Settle();
  EXPECT_EQ(Phase("data"), "Pending");
  EXPECT_THAT(Reasons("PersistentVolumeClaim", "data"), ElementsAre("ExternalProvisioning"));
}

TEST_F(VolumeDriver, ADelayedClaimGetsAVolumeOnTheSelectedNode) {
  CreateClass("local", {{"terrarium.dev/topology", "kubernetes.io/hostname"}},
              {{"volumeBindingMode", "WaitForFirstConsumer"}});
  CreateClaim("data", "local");
  Settle();
  EXPECT_EQ(Phase("data"), "Pending");
  SelectNode("data", "node-1");
  Settle();
  EXPECT_EQ(Phase("data"), "Bound");
  EXPECT_EQ(VolumeOf("data")["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"],
            Json::parse(R"([{"matchExpressions": [
              {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-1"]}]}])"));
}

TEST_F(VolumeDriver, ASelectedNodeThatDoesNotExistFails) {
  CreateClass("local", Json::object(), {{"volumeBindingMode", "WaitForFirstConsumer"}});
  CreateClaim("data", "local");
  Settle();
  SelectNode("data", "nowhere");
  Settle();
  EXPECT_THAT(Messages("data", "ProvisioningFailed"),
              ElementsAre("failed to get target node: node \"nowhere\" not found"));
  EXPECT_FALSE(Claim("data")["metadata"]["annotations"].contains("volume.kubernetes.io/selected-node"))
      << "the scheduler chooses again";
}

TEST_F(VolumeDriver, AnImmediateVolumeIsWhereTheClassAllows) {
  CreateClass("zonal", Json::object(),
              {{"allowedTopologies",
                Json::parse(R"([{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}])")}});
  CreateClaim("data", "zonal");
  Settle();
  EXPECT_EQ(
      VolumeOf("data")["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"],
      Json::parse(R"([{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}])"));
}

TEST_F(VolumeDriver, AClaimGrows) {
  CreateClass("fast", {{"terrarium.dev/resize-delay", "10s"}});
  CreateClaim("data", "fast");
  Settle();
  Testbed::Must(Grow("data", "5Gi"));
  bed_.clock().Advance(5s);
  const Json growing = Claim("data")["status"];
  EXPECT_EQ(growing["capacity"]["storage"], "2Gi");
  EXPECT_EQ(growing["allocatedResourceStatuses"]["storage"], "ControllerResizeInProgress");
  EXPECT_EQ(growing["conditions"][0]["type"], "Resizing");
  EXPECT_EQ(bed_.clock().RunUntilIdle(1min).why, RunOutcome::Why::kIdle);
  const Json grown = Claim("data")["status"];
  EXPECT_EQ(grown["capacity"]["storage"], "5Gi");
  EXPECT_EQ(grown["allocatedResources"]["storage"], "5Gi");
  EXPECT_FALSE(grown.contains("conditions"));
  EXPECT_FALSE(grown.contains("allocatedResourceStatuses"));
  EXPECT_EQ(VolumeOf("data")["spec"]["capacity"]["storage"], "5Gi");
  EXPECT_THAT(Reasons("PersistentVolumeClaim", "data"),
              AllOf(Contains("ExternalExpanding"), Contains("Resizing"), Contains("VolumeResizeSuccessful")));
}

TEST_F(VolumeDriver, AClaimThatCannotGrowIsReported) {
  CreateClass("full", {{"terrarium.dev/resize-error", "no room"}});
  CreateClaim("data", "full");
  Settle();
  Testbed::Must(Grow("data", "5Gi"));
  EXPECT_EQ(bed_.clock().RunUntilIdle(1min).why, RunOutcome::Why::kIdle);
  EXPECT_EQ(Claim("data")["status"]["capacity"]["storage"], "2Gi");
  ASSERT_EQ(Messages("data", "VolumeResizeFailed").size(), 1u);
  EXPECT_THAT(Messages("data", "VolumeResizeFailed")[0],
              HasSubstr("by resizer \"disk.example.com\" failed: no room"));
}

TEST_F(VolumeDriver, AClassMayForbidGrowth) {
  CreateClass("fixed", Json::object(), {{"allowVolumeExpansion", false}});
  CreateClaim("data", "fixed");
  EXPECT_THAT(Grow("data", "5Gi").status().message, HasSubstr("spec is immutable after creation"));
  Settle();
  EXPECT_THAT(
      Grow("data", "5Gi").status().message,
      HasSubstr("only dynamically provisioned pvc can be resized and the storageclass that provisions "
                "the pvc must support resize"));
}

TEST_F(VolumeDriver, ABoundClaimGetsAnotherAttributesClass) {
  CreateClass("fast");
  CreateClaim("data", "fast");
  Settle();
  Testbed::Must(bed_.Create("volumeattributesclasses", "",
                            {{"metadata", {{"name", "gold"}}},
                             {"driverName", "disk.example.com"},
                             {"parameters", {{"iops", "1000"}}}}));
  Testbed::Must(bed_.Patch("persistentvolumeclaims", {"default", "data"},
                           {{"spec", {{"volumeAttributesClassName", "gold"}}}}));
  Settle();
  EXPECT_EQ(Claim("data")["status"]["currentVolumeAttributesClassName"], "gold");
  EXPECT_EQ(VolumeOf("data")["spec"]["volumeAttributesClassName"], "gold");
  // The class is in use.
  Testbed::Must(bed_.Delete("volumeattributesclasses", {"", "gold"}));
  Settle();
  EXPECT_NE(bed_.Get("volumeattributesclasses", "", "gold"), nullptr);
  Testbed::Must(bed_.Delete("persistentvolumeclaims", {"default", "data"}));
  Settle();
  EXPECT_EQ(bed_.Get("volumeattributesclasses", "", "gold"), nullptr);
}

TEST_F(VolumeDriver, UnknownParametersAreRefused) {
  const auto created = bed_.Create(
      "storageclasses", "",
      {{"metadata", {{"name", "odd"}}},
       {"provisioner", "disk.example.com"},
       {"parameters", {{"terrarium.dev/provision-delay", "soon"}, {"terrarium.dev/speed", "9"}}}});
  ASSERT_FALSE(created.ok());
  EXPECT_THAT(created.status().message,
              AllOf(HasSubstr("parameters[terrarium.dev/speed]: Invalid value: \"9\": unknown parameter"),
                    HasSubstr("parameters[terrarium.dev/provision-delay]: Invalid value: \"soon\"")));
}

TEST_F(VolumeDriver, WithoutControllersThereIsNoClass) {
  Testbed bare({.controllers = "-*", .nodes = 0});
  bare.clock().RunUntilIdle(1s);
  EXPECT_THAT(bare.List("storageclasses"), IsEmpty());
}

}  // namespace
}  // namespace terrarium::controllers
