// Pods whose claims have no volume, or one that not every node can use. The test plays the volume binder.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "tests/kubelet-fake/scheduler/component.h"

namespace terrarium::kubelet_fake {
namespace {

using namespace std::chrono_literals;
using api::Json;
using api::StringAt;

constexpr const char* kHelpless =
    " no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for "
    "scheduling.";

class SchedulerVolumes : public ::testing::Test {
 protected:
  SchedulerVolumes() {
    cluster.AddNode("node-1");
    cluster.AddNode("node-2");
    Create("storageclasses", "",
           {{"metadata", {{"name", "late"}}},
            {"provisioner", "example.com/disks"},
            {"volumeBindingMode", "WaitForFirstConsumer"}});
    Create("storageclasses", "",
           {{"metadata", {{"name", "static"}}},
            {"provisioner", "kubernetes.io/no-provisioner"},
            {"volumeBindingMode", "WaitForFirstConsumer"}});
    Create("storageclasses", "", {{"metadata", {{"name", "now"}}}, {"provisioner", "example.com/disks"}});
    cluster.Settle();
  }

  void Create(const char* resource, const char* ns, const Json& object) {
    cluster.bed().Must(cluster.bed().Create(resource, ns, object));
  }
  void AddClaim(const char* name, const char* storage_class, const char* mode = "ReadWriteOnce") {
    Create("persistentvolumeclaims", "default",
           {{"metadata", {{"name", name}}},
            {"spec",
             {{"storageClassName", storage_class},
              {"accessModes", Json::array({mode})},
              {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}});
  }
  // A volume that only `node` can use.
  void AddVolume(const char* name, const char* storage_class, const char* node,
                 const char* mode = "ReadWriteOnce") {
    Json expression = {
        {"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", Json::array({node})}};
    Json term = {{"matchExpressions", Json::array({expression})}};
    Create("persistentvolumes", "",
           {{"metadata", {{"name", name}}},
            {"spec",
             {{"storageClassName", storage_class},
              {"capacity", {{"storage", "1Gi"}}},
              {"accessModes", Json::array({mode})},
              {"hostPath", {{"path", "/data"}}},
              {"nodeAffinity", {{"required", {{"nodeSelectorTerms", Json::array({term})}}}}}}}});
    cluster.bed().Must(cluster.bed().Patch("persistentvolumes", {"", name},
                                           {{"status", {{"phase", "Available"}}}}, "status"));
  }
  void AddPod(const char* name, const char* claim) {
    Json source = {{"claimName", claim}};
    Json volume = {{"name", "data"}, {"persistentVolumeClaim", source}};
    cluster.AddPod(name, "", {{"spec", {{"volumes", Json::array({volume})}}}});
    cluster.Settle();
  }
  // As the binder does when volume and claim refer to one another.
  void CompleteBinding(const char* claim, const char* volume) {
    PatchClaim(claim, {{"metadata", {{"annotations", {{"pv.kubernetes.io/bind-completed", "yes"}}}}},
                       {"spec", {{"volumeName", volume}}}});
  }
  void PatchClaim(const char* claim, const Json& patch) {
    cluster.bed().Must(cluster.bed().Patch("persistentvolumeclaims", {"default", claim}, patch));
    cluster.Settle();
  }
  std::string SelectedNode(const char* claim) {
    const auto document = cluster.bed().Get("persistentvolumeclaims", "default", claim)->Document();
    return std::string(StringAt(*document, "metadata", "annotations", "volume.kubernetes.io/selected-node"));
  }
  std::string ClaimOf(const char* volume) {
    const auto document = cluster.bed().Get("persistentvolumes", "", volume)->Document();
    return std::string(StringAt(*document, "spec", "claimRef", "name"));
  }
  std::string Message(const char* pod) {
    return std::string(StringAt(cluster.ScheduledCondition(pod), "message"));
  }
  std::string Reason(const char* pod) {
    return std::string(StringAt(cluster.ScheduledCondition(pod), "reason"));
  }

  SchedulerCluster cluster;
};

TEST_F(SchedulerVolumes, APodWaitsForAClaimThatDoesNotExist) {
  AddPod("web", "data");
  EXPECT_EQ(Message("web"), "0/2 nodes are available: persistentvolumeclaim \"data\" not found. not found");
  AddVolume("disk", "now", "node-2");
  AddClaim("data", "now");
  cluster.Settle();
  EXPECT_EQ(Message("web"),
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found");
  EXPECT_EQ(cluster.Metric("scheduler_preemption_attempts_total"), 0) << "no pod is in its way";
  CompleteBinding("data", "disk");
  EXPECT_EQ(cluster.NodeOf("web"), "node-2") << "where the volume is";
}

TEST_F(SchedulerVolumes, AProvisionerLearnsTheNodeAndThePodWaitsForItsVolume) {
  AddClaim("data", "late");
  AddPod("web", "data");
  EXPECT_EQ(cluster.NodeOf("web"), "");
  const std::string node = SelectedNode("data");
  EXPECT_NE(node, "");
  EXPECT_EQ(StringAt(*cluster.PodDocument("web"), "status", "nominatedNodeName"), node);
  EXPECT_EQ(cluster.client().Sent("binding"), 0);
  AddVolume("disk", "late", node.c_str());
  CompleteBinding("data", "disk");
  EXPECT_EQ(cluster.NodeOf("web"), node);
  EXPECT_EQ(StringAt(*cluster.PodDocument("web"), "status", "nominatedNodeName"), "");
}

TEST_F(SchedulerVolumes, WhenProvisioningFailsThePodIsTriedAgain) {
  AddClaim("data", "late");
  AddPod("web", "data");
  PatchClaim("data", {{"metadata", {{"annotations", {{"volume.kubernetes.io/selected-node", nullptr}}}}}});
  EXPECT_EQ(Reason("web"), "SchedulerError");
  EXPECT_EQ(
      Message("web"),
      "running PreBind plugin \"VolumeBinding\": binding volumes: provisioning failed for PVC \"data\"");
  EXPECT_EQ(StringAt(*cluster.PodDocument("web"), "status", "nominatedNodeName"), "");
  cluster.bed().clock().Advance(1s);
  EXPECT_NE(SelectedNode("data"), "");
}

TEST_F(SchedulerVolumes, AVolumeThatIsNotBoundInTenMinutesIsAnError) {
  AddClaim("data", "late");
  AddPod("web", "data");
  cluster.bed().clock().Advance(10min - 1ms);
  EXPECT_EQ(cluster.ScheduledCondition("web"), nullptr);
  cluster.bed().clock().Advance(1ms);
  EXPECT_EQ(Message("web"),
            "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded");
}

TEST_F(SchedulerVolumes, AVolumeThatExistsDecidesTheNodeAndIsBoundToTheClaim) {
  AddVolume("disk", "static", "node-2");
  AddClaim("data", "static");
  AddClaim("other", "static");
  AddPod("web", "data");
  EXPECT_EQ(ClaimOf("disk"), "data");
  EXPECT_EQ(cluster.NodeOf("web"), "");
  AddPod("second", "other");
  EXPECT_EQ(Message("second"),
            std::string("0/2 nodes are available: 2 node(s) didn't find available persistent "
                        "volumes to bind.") +
                kHelpless);
  CompleteBinding("data", "disk");
  EXPECT_EQ(cluster.NodeOf("web"), "node-2");
  AddVolume("disk-2", "static", "node-1");
  cluster.Settle();
  EXPECT_EQ(ClaimOf("disk-2"), "other") << "a new volume wakes the pod";
}

TEST_F(SchedulerVolumes, PodsStayAwayFromNodesThatCannotUseTheVolume) {
  AddVolume("disk", "now", "node-3");
  AddClaim("data", "now");
  CompleteBinding("data", "disk");
  AddPod("web", "data");
  EXPECT_EQ(Message("web"),
            std::string("0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.") +
                kHelpless);
  cluster.AddNode("node-3");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "node-3");
}

TEST_F(SchedulerVolumes, OnePodAtATimeUsesAReadWriteOncePodClaim) {
  AddVolume("disk", "now", "node-1", "ReadWriteOncePod");
  AddClaim("data", "now", "ReadWriteOncePod");
  CompleteBinding("data", "disk");
  AddPod("first", "data");
  EXPECT_EQ(cluster.NodeOf("first"), "node-1");
  AddPod("second", "data");
  EXPECT_THAT(Message("second"),
              ::testing::StartsWith(
                  "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with "
                  "ReadWriteOncePod access mode already in-use by another pod."));
  cluster.DeletePod("first");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("second"), "node-1");
}

TEST_F(SchedulerVolumes, ARefusedWriteIsRepeatedAfterItsBackoff) {
  AddVolume("disk", "static", "node-2");
  AddClaim("data", "static");
  cluster.Settle();
  // The volume changes between the decision and the write.
  cluster.client().RefuseResource("persistentvolumes", api::ServiceUnavailable("not now"));
  AddPod("web", "data");
  EXPECT_EQ(Message("web"), "running PreBind plugin \"VolumeBinding\": not now");
  EXPECT_EQ(ClaimOf("disk"), "");
  cluster.bed().clock().Advance(1s);
  EXPECT_EQ(ClaimOf("disk"), "data");
}

TEST_F(SchedulerVolumes, APodDeletedWhileItWaitsReleasesItsNodeAndItsVolume) {
  AddClaim("data", "late");
  AddPod("web", "data");
  cluster.DeletePod("web");
  cluster.Settle();
  cluster.bed().clock().Advance(11min);
  EXPECT_EQ(cluster.client().Sent("binding"), 0);
  EXPECT_EQ(cluster.Metric(Attempts("error")), 0);
}

}  // namespace
}  // namespace terrarium::kubelet_fake
