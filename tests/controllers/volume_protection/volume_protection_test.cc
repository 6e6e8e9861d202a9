// What is in use is not deleted, in a whole cluster.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using testbed::Testbed;
using namespace std::chrono_literals;

class VolumeProtection : public testing::Test {
 protected:
  void CreateClaim(const std::string& name) {
    Testbed::Must(bed_.Create("persistentvolumeclaims", "default",
                              {{"metadata", {{"name", name}}},
                               {"spec",
                                {{"accessModes", {"ReadWriteOnce"}},
                                 {"storageClassName", ""},
                                 {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}}));
  }
  // A pod on a node of its own choice, which no scheduler keeps waiting for its claims.
  void CreatePod(const std::string& node, const Json& volume_source) {
    Json spec = {{"restartPolicy", "Never"},
                 {"containers", {{{"name", "c"}, {"image", "i"}}}},
                 {"volumes", Json::array({{{"name", "v"}}})}};
    spec["volumes"][0].update(volume_source);
    if (!node.empty()) spec["nodeName"] = node;
    Testbed::Must(
        bed_.Create("pods", "default",
                    {{"metadata", {{"name", "web"}, {"annotations", {{"terrarium.dev/run-for", "1m"}}}}},
                     {"spec", spec}}));
    bed_.clock().RunUntilIdle(0s);
  }
  static Json Mounts(const std::string& claim) { return {{"persistentVolumeClaim", {{"claimName", claim}}}}; }
  bool ClaimExists(const std::string& name) {
    return bed_.Get("persistentvolumeclaims", "default", name) != nullptr;
  }
  void DeleteClaim(const std::string& name) {
    Testbed::Must(bed_.Delete("persistentvolumeclaims", {"default", name}));
    bed_.clock().RunUntilIdle(0s);
  }

  Testbed bed_{
      {.controllers = "persistentvolumeclaim-protection-controller,persistentvolume-protection-controller",
       .scheduler = false,
       .nodes = 1}};
};

TEST_F(VolumeProtection, AnUnusedClaimIsDeletedImmediately) {
  CreateClaim("data");
  EXPECT_EQ(api::FinalizersOf(*bed_.Get("persistentvolumeclaims", "default", "data")),
            std::vector<std::string>{"kubernetes.io/pvc-protection"});
  DeleteClaim("data");
  EXPECT_FALSE(ClaimExists("data"));
}

TEST_F(VolumeProtection, AClaimStaysWhileAPodMountsIt) {
  CreateClaim("data");
  CreatePod("node-0", Mounts("data"));
  DeleteClaim("data");
  EXPECT_TRUE(ClaimExists("data"));
  Testbed::Must(bed_.Delete("pods", {"default", "web"}));
  bed_.clock().RunUntilIdle(1min);
  EXPECT_FALSE(ClaimExists("data"));
}

TEST_F(VolumeProtection, APodWithoutANodeDoesNotUseItsClaims) {
  CreateClaim("data");
  CreatePod("", Mounts("data"));
  DeleteClaim("data");
  EXPECT_FALSE(ClaimExists("data"));
}

TEST_F(VolumeProtection, AnEphemeralVolumeOfThatNameIsAnotherClaim) {
  CreateClaim("web-v");
  CreatePod(
      "node-0",
      {{"ephemeral",
        {{"volumeClaimTemplate",
          {{"spec",
            {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}}}}}});
  DeleteClaim("web-v");
  EXPECT_FALSE(ClaimExists("web-v"));
}

TEST_F(VolumeProtection, ALostFinalizerIsAddedAgain) {
  CreateClaim("data");
  Testbed::Must(bed_.Patch(
      "persistentvolumeclaims", {"default", "data"},
      {{"metadata", {{"$deleteFromPrimitiveList/finalizers", {"kubernetes.io/pvc-protection"}}}}}));
  EXPECT_FALSE(bed_.Get("persistentvolumeclaims", "default", "data")->header().has_finalizers);
  bed_.clock().RunUntilIdle(0s);
  EXPECT_TRUE(bed_.Get("persistentvolumeclaims", "default", "data")->header().has_finalizers);
}

TEST_F(VolumeProtection, ABoundVolumeStaysUntilItIsReleased) {
  Testbed::Must(bed_.Create("persistentvolumes", "",
                            {{"metadata", {{"name", "pv"}}},
                             {"spec",
                              {{"accessModes", {"ReadWriteOnce"}},
                               {"capacity", {{"storage", "1Gi"}}},
                               {"hostPath", {{"path", "/tmp/pv"}}}}}}));
  auto set_phase = [&](const char* phase) {
    Json volume = bed_.Get("persistentvolumes", "", "pv")->Parse();
    volume["status"]["phase"] = phase;
    Testbed::Must(bed_.Update("persistentvolumes", volume, "status"));
    bed_.clock().RunUntilIdle(0s);
  };
  set_phase("Bound");
  Testbed::Must(bed_.Delete("persistentvolumes", {"", "pv"}));
  bed_.clock().RunUntilIdle(0s);
  EXPECT_NE(bed_.Get("persistentvolumes", "", "pv"), nullptr);
  set_phase("Released");
  EXPECT_EQ(bed_.Get("persistentvolumes", "", "pv"), nullptr);
}

}  // namespace
}  // namespace terrarium::controllers
