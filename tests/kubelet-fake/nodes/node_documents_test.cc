#include "kubelet-fake/nodes/internal/node_documents.h"

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::kubelet_fake {
namespace {

using api::Json;
using api::StringAt;

const api::Time kNow = *api::ParseTime("2026-01-01T00:10:00Z");
const api::Time kLater = *api::ParseTime("2026-01-01T00:20:00Z");
const Machine kMachine{"172.18.0.9", "0aa1b2c3-0000-4000-8000-000000000001"};

Json Merged(const Json& patch) { return api::ObjectAt(patch, "status"); }

TEST(NodeDocuments, AddressesAndPodRangesDoNotRepeat) {
  EXPECT_EQ(NodeAddress(0), "172.18.0.2");
  EXPECT_EQ(NodeAddress(254), "172.18.1.0");
  EXPECT_EQ(NodeAddress(65534), "172.19.0.0");
  EXPECT_EQ(PodRange(0), "10.244.0.0/24");
  EXPECT_EQ(PodRange(255), "10.244.255.0/24");
  EXPECT_EQ(PodRange(256), "10.245.0.0/24");
  EXPECT_EQ(PodRange(12 * 256), "10.128.0.0/24");
  EXPECT_EQ(PodRange(128 * 256), "");
}

TEST(NodeDocuments, ANodeRegistersItselfReadyAndComplete) {
  NodeAgentOptions options;
  options.labels = {{"disk", "ssd"}, {"topology.kubernetes.io/zone", "mine"}};
  Json node = InitialNode(options, 4, kMachine, kNow);
  EXPECT_EQ(StringAt(node, "metadata", "name"), "node-4");
  EXPECT_EQ(StringAt(node, "metadata", "labels", "kubernetes.io/hostname"), "node-4");
  EXPECT_EQ(StringAt(node, "metadata", "labels", "disk"), "ssd");
  EXPECT_EQ(StringAt(node, "metadata", "labels", "topology.kubernetes.io/zone"), "mine");
  EXPECT_EQ(StringAt(node, "spec", "podCIDR"), "10.244.4.0/24");
  EXPECT_EQ(node["status"]["capacity"], node["status"]["allocatable"]);
  EXPECT_EQ(StringAt(node, "status", "capacity", "pods"), "110");
  EXPECT_EQ(InternalIpOf(node), "172.18.0.9");
  EXPECT_EQ(node["status"]["conditions"].size(), 4u);
  EXPECT_EQ(StringAt(*api::FindCondition(node, "Ready"), "reason"), "KubeletReady");
  // There is nothing left to repair.
  EXPECT_FALSE(StatusPatch(node, options, kMachine, StatusReport::kRepair, kLater));
  EXPECT_FALSE(AdoptionPatch(node, "10.244.4.0/24"));
}

TEST(NodeDocuments, ZonesAreSpread) {
  std::set<std::string> zones;
  for (int i = 0; i < 3; ++i)
    zones.emplace(
        StringAt(InitialNode({}, i, kMachine, kNow), "metadata", "labels", "topology.kubernetes.io/zone"));
  EXPECT_EQ(zones, (std::set<std::string>{"zone-a", "zone-b", "zone-c"}));
}

TEST(NodeDocuments, ValuesOfTheCreatorAreKept) {
  Json node = {{"metadata", {{"name", "mine"}, {"uid", "u1"}, {"labels", {{"kubernetes.io/os", "windows"}}}}},
               {"status", {{"capacity", {{"cpu", "1"}}}, {"allocatable", {{"cpu", "500m"}}}}}};
  Json status = Merged(*StatusPatch(node, {}, kMachine, StatusReport::kRepair, kNow));
  EXPECT_FALSE(status["capacity"].contains("cpu"));
  EXPECT_EQ(status["capacity"]["memory"], "32Gi");
  EXPECT_FALSE(status["allocatable"].contains("cpu"));
  EXPECT_EQ(status["allocatable"]["pods"], "110");
  Json patch = *AdoptionPatch(node, "10.244.7.0/24");
  EXPECT_FALSE(patch["metadata"]["labels"].contains("kubernetes.io/os"));
  EXPECT_EQ(patch["metadata"]["labels"]["kubernetes.io/hostname"], "mine");
  EXPECT_EQ(patch["metadata"]["uid"], "u1");
  EXPECT_EQ(patch["spec"]["podCIDR"], "10.244.7.0/24");
}

TEST(NodeDocuments, AllocatableFollowsTheCapacityThatWasGiven) {
  Json node = {{"metadata", {{"name", "mine"}}}, {"status", {{"capacity", {{"cpu", "64"}}}}}};
  Json status = Merged(*StatusPatch(node, {}, kMachine, StatusReport::kRepair, kNow));
  EXPECT_EQ(status["allocatable"]["cpu"], "64");
}

struct ReportCase {
  const char* name;
  StatusReport report;
  const char* given;           // Ready of the node; nullptr: absent
  const char* written_status;  // of Ready in the patch; nullptr: only its heartbeat
  bool writes;
};

void PrintTo(const ReportCase& c, std::ostream* out) { *out << c.name; }

class StatusReports : public testing::TestWithParam<ReportCase> {};

TEST_P(StatusReports, PutRightWhatIsWrong) {
  const ReportCase& c = GetParam();
  Json node = InitialNode({}, 0, kMachine, kNow);
  Json& conditions = node["status"]["conditions"];
  if (c.given == nullptr)
    conditions.erase(3);
  else
    conditions[3]["status"] = c.given;
  auto patch = StatusPatch(node, {}, kMachine, c.report, kLater);
  ASSERT_EQ(patch.has_value(), c.writes);
  if (!patch) return;
  const Json* ready = api::FindCondition(*patch, "Ready");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(StringAt(*ready, "lastHeartbeatTime"), "2026-01-01T00:20:00Z");
  EXPECT_EQ(StringAt(*ready, "status"), c.written_status == nullptr ? "" : c.written_status);
  EXPECT_EQ(StringAt(*ready, "lastTransitionTime"),
            c.written_status == nullptr ? "" : "2026-01-01T00:20:00Z");
  // The others were correct: only their heartbeat is written.
  EXPECT_EQ(StringAt(*api::FindCondition(*patch, "DiskPressure"), "status"), "");
}

INSTANTIATE_TEST_SUITE_P(
    NodeDocuments, StatusReports,
    testing::Values(
        ReportCase{"RepairOfAHealthyNode", StatusReport::kRepair, "True", nullptr, false},
        ReportCase{"RepairOfAnUnknownNode", StatusReport::kRepair, "Unknown", "True", true},
        ReportCase{"RepairOfAMissingCondition", StatusReport::kRepair, nullptr, "True", true},
        ReportCase{"RepairLeavesAHandMadeFalse", StatusReport::kRepair, "False", nullptr, false},
        ReportCase{"HeartbeatOfAHealthyNode", StatusReport::kHeartbeat, "True", nullptr, true},
        ReportCase{"HeartbeatLeavesAHandMadeFalse", StatusReport::kHeartbeat, "False", nullptr, true},
        ReportCase{"RecoveryOverridesAHandMadeFalse", StatusReport::kRecovery, "False", "True", true}),
    [](const auto& info) { return info.param.name; });

TEST(NodeDocuments, ALeaseKeepsWhatOthersPutIntoIt) {
  api::ObjectHeader header;
  header.name = "node-0";
  header.uid = "u2";
  auto node = api::Object::Make(header, {{"metadata", {{"name", "node-0"}}}});
  Json existing = {{"metadata", {{"resourceVersion", "7"}, {"labels", {{"a", "b"}}}}},
                   {"spec", {{"renewTime", "2025-01-01T00:00:00.000000Z"}, {"leaseTransitions", 3}}}};
  Json lease = LeaseOf(*node, existing, kNow);
  EXPECT_EQ(lease["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(lease["metadata"]["labels"]["a"], "b");
  EXPECT_EQ(lease["metadata"]["ownerReferences"][0]["uid"], "u2");
  EXPECT_EQ(lease["spec"]["leaseTransitions"], 3);
  EXPECT_EQ(lease["spec"]["renewTime"], "2026-01-01T00:10:00.000000Z");
  EXPECT_EQ(lease["spec"]["leaseDurationSeconds"], 40);
  EXPECT_EQ(LeaseOf(*node, Json(), kNow)["spec"]["holderIdentity"], "node-0");
}

}  // namespace
}  // namespace terrarium::kubelet_fake
