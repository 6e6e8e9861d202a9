#include "kubelet-fake/kubelet/kubelet.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "kubelet-fake/kubelet/container_runtime.h"
#include "tests/kubelet-fake/kubelet/kubelet_cluster.h"

namespace terrarium::kubelet_fake::testing {
namespace {

using namespace std::chrono_literals;
using api::Json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool IsReady(const Json& pod) { return api::StringAt(*api::FindCondition(pod, "Ready"), "status") == "True"; }

TEST(Kubelet, ReportsAPodAsPendingAndAsRunningApart) {
  KubeletCluster cluster;
  cluster.AddPod("web");
  EXPECT_THAT(cluster.WritesOf("web"), ElementsAre("Pending", "Running"));
  const auto pod = cluster.Pod("web");
  EXPECT_TRUE(IsReady(*pod));
  EXPECT_EQ(api::StringAt(*pod, "status", "podIP"), "10.244.0.1");
  EXPECT_EQ(api::StringAt(*pod, "status", "hostIP"), "172.18.0.2");
  EXPECT_EQ(api::StringAt(*pod, "status", "qosClass"), "BestEffort");
}

TEST(Kubelet, WritesNothingMoreAboutAPodThatRuns) {
  KubeletCluster cluster;
  cluster.AddPod("web");
  cluster.Pass(24h);
  EXPECT_EQ(cluster.client().writes.size(), 2U);
}

TEST(Kubelet, RemovesADeletedPodAfterItsTerminalPhase) {
  KubeletCluster cluster;
  cluster.AddPod("web");
  cluster.DeletePod("web");
  EXPECT_THAT(cluster.WritesOf("web"), ElementsAre("Pending", "Running", "Succeeded", "DELETE"));
  EXPECT_EQ(cluster.Pod("web"), nullptr);
}

TEST(Kubelet, KeepsAPodThatIgnoresSigtermUntilItsGraceIsOver) {
  KubeletCluster cluster;
  cluster.AddPod("web", {{"ignore-sigterm", "true"}}, {{"spec", {{"terminationGracePeriodSeconds", 1800}}}});
  cluster.DeletePod("web");
  cluster.Pass(1799s);
  ASSERT_EQ(cluster.Phase("web"), "Running");
  EXPECT_TRUE(IsReady(*cluster.Pod("web")));
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Pod("web"), nullptr);
}

TEST(Kubelet, LeavesAPodWithFinalizersInItsTerminalPhase) {
  KubeletCluster cluster;
  cluster.AddPod("web", {{"stop-exit-code", "1"}}, {{"metadata", {{"finalizers", {"example.com/wait"}}}}});
  cluster.DeletePod("web");
  cluster.Pass(1h);
  ASSERT_EQ(cluster.Phase("web"), "Failed");
  EXPECT_THAT(cluster.WritesOf("web"), ElementsAre("Pending", "Running", "Failed", "DELETE"));
  cluster.bed().Must(
      cluster.bed().Patch("pods", {"default", "web"}, {{"metadata", {{"finalizers", nullptr}}}}));
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Pod("web"), nullptr);
  EXPECT_EQ(cluster.client().writes.size(), 4U);
}

TEST(Kubelet, LetsAForcedDeletionThrough) {
  KubeletCluster cluster;
  cluster.AddPod("web", {{"hang", "true"}});
  cluster.DeletePod("web");
  cluster.Pass(1h);
  ASSERT_EQ(cluster.Phase("web"), "Running");
  cluster.DeletePod("web", 0);
  EXPECT_EQ(cluster.Pod("web"), nullptr);
  cluster.AddPod("web");
  EXPECT_EQ(cluster.Phase("web"), "Running") << "another pod of that name is another pod";
}

TEST(Kubelet, ShortensTheGraceOfASecondDeletion) {
  KubeletCluster cluster;
  cluster.AddPod("web", {{"ignore-sigterm", "true"}});
  cluster.DeletePod("web", 1800);
  cluster.Pass(1min);
  cluster.DeletePod("web", 5);
  cluster.Pass(4s);
  ASSERT_EQ(cluster.Phase("web"), "Running");
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Pod("web"), nullptr);
}

TEST(Kubelet, GatesDecideWhetherADeletedPodGetsATerminalPhase) {
  KubeletCluster cluster;
  cluster.gates() = *api::FeatureGates().With("PodDisruptionConditions=false,JobPodReplacementPolicy=true");
  cluster.AddPod("one");
  cluster.DeletePod("one");
  EXPECT_THAT(cluster.WritesOf("one"), ElementsAre("Pending", "Running", "Succeeded", "DELETE"));
  cluster.gates() = *api::FeatureGates().With("PodDisruptionConditions=false,JobPodReplacementPolicy=false");
  cluster.AddPod("two");
  cluster.DeletePod("two");
  EXPECT_THAT(cluster.WritesOf("two"), ElementsAre("Pending", "Running", "-", "DELETE"));
}

TEST(Kubelet, TakesUpPodsOfAnEarlierKubelet) {
  KubeletCluster cluster;
  cluster.AddPod("web", {{"run-for", "1m"}, {"exit-code", "1"}});
  cluster.AddPod("held", {{"hold", "terminating"}});
  cluster.DeletePod("held");
  cluster.Pass(90s);
  const Json before = *cluster.Pod("web");
  cluster.client().writes.clear();
  cluster.RestartKubelet();
  cluster.Pass(20s);
  EXPECT_THAT(cluster.client().writes, IsEmpty());
  EXPECT_EQ(*cluster.Pod("web"), before);
  cluster.Pass(20s);  // back-off after the second run
  EXPECT_EQ((*cluster.Pod("web"))["status"]["containerStatuses"][0]["restartCount"], 2);
  EXPECT_EQ(cluster.Phase("held"), "Running");
}

TEST(Kubelet, GivesNoPodAnAddressThatAnotherHas) {
  KubeletCluster cluster;
  cluster.AddPod("a");
  cluster.AddPod("b");
  cluster.RestartKubelet();
  cluster.AddPod("c");
  cluster.AddPod("hosted", {}, {{"spec", {{"hostNetwork", true}}}});
  std::set<std::string> addresses;
  for (const char* name : {"a", "b", "c"})
    addresses.emplace(api::StringAt(*cluster.Pod(name), "status", "podIP"));
  EXPECT_EQ(addresses.size(), 3U);
  EXPECT_EQ(api::StringAt(*cluster.Pod("hosted"), "status", "podIP"), "172.18.0.2");
}

TEST(Kubelet, ChangesNothingOnANodeThatIsDownAndCatchesUpWhenItIsBack) {
  KubeletCluster cluster;
  cluster.AddPod("short", {{"run-for", "30s"}}, {{"spec", {{"restartPolicy", "Never"}}}});
  cluster.AddPod("long", {{"stop-after", "10s"}});
  cluster.client().writes.clear();
  cluster.nodes().Set("node-0", false);
  cluster.AddPod("late");
  cluster.DeletePod("long");
  cluster.Pass(10min);
  EXPECT_THAT(cluster.client().writes, IsEmpty());
  cluster.nodes().Set("node-0", true);
  cluster.Pass(0s);
  EXPECT_EQ(cluster.Phase("short"), "Succeeded");
  EXPECT_EQ(cluster.Phase("late"), "Running");
  EXPECT_EQ((*cluster.Pod("short"))["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"],
            "2026-01-01T00:00:30Z");
  EXPECT_EQ(cluster.Phase("long"), "Running") << "it learns only now that it is to stop";
  cluster.Pass(10s);
  EXPECT_EQ(cluster.Pod("long"), nullptr);
}

TEST(Kubelet, PutsReadinessRightThatOthersTookFromThePodsOfALostNode) {
  KubeletCluster cluster;
  cluster.AddPod("web");
  cluster.nodes().Set("node-0", false);
  const Json unready = {
      {"status", {{"conditions", {{{"type", "Ready"}, {"status", "False"}, {"reason", "Lost"}}}}}}};
  cluster.bed().Must(cluster.bed().Patch("pods", {"default", "web"}, unready, "status"));
  cluster.Pass(1min);
  ASSERT_FALSE(IsReady(*cluster.Pod("web")));
  cluster.nodes().Set("node-0", true);
  cluster.Pass(0s);
  EXPECT_TRUE(IsReady(*cluster.Pod("web")));
  EXPECT_EQ(api::StringAt(*api::FindCondition(*cluster.Pod("web"), "Ready"), "reason"), "");
}

TEST(Kubelet, TriesAgainWhenTheApiserverIsAway) {
  KubeletCluster cluster;
  cluster.client().failures_left = 3;
  cluster.AddPod("web");
  EXPECT_EQ(cluster.Phase("web"), "Pending");
  cluster.Pass(10s);
  EXPECT_EQ(cluster.Phase("web"), "Running");
  EXPECT_TRUE(IsReady(*cluster.Pod("web")));
  cluster.client().failures_left = 2;
  cluster.DeletePod("web");
  cluster.Pass(10s);
  EXPECT_EQ(cluster.Pod("web"), nullptr);
}

// 1. The kubelet writes Running. 2. Before the write arrives the pod is deleted. 3. The answer has both
// changes, and the event of the deletion reaches a kubelet that already has a newer state.
TEST(Kubelet, SeesADeletionThatCameBetweenItsWriteAndTheAnswer) {
  KubeletCluster cluster;
  cluster.client().before_next = [&] {
    cluster.client().before_next = [&] {
      cluster.bed().Must(cluster.bed().Delete("pods", {"default", "web"}));
    };
  };
  cluster.AddPod("web");
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Pod("web"), nullptr);
}

TEST(Kubelet, TakesANewScriptWhereItStillMatters) {
  KubeletCluster cluster;
  cluster.AddPod("web", {{"run-for", "forever"}}, {{"spec", {{"restartPolicy", "Never"}}}});
  cluster.Pass(10s);
  const Json script = {{"terrarium.dev/run-for", "15s"}, {"terrarium.dev/exit-code", "2"}};
  const Json patch = {{"metadata", {{"annotations", script}}}};
  cluster.bed().Must(cluster.bed().Patch("pods", {"default", "web"}, patch));
  cluster.Pass(4s);
  ASSERT_EQ(cluster.Phase("web"), "Running");
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Phase("web"), "Failed");
}

TEST(Kubelet, FollowsRulesForPodsThatAreThereAndThatCome) {
  KubeletCluster cluster;
  cluster.AddPod("a");
  ASSERT_TRUE(cluster.rules()
                  .Add({{"name", "slow"}, {"script", {{"stop-after", "10s"}, {"ready-delay", "5s"}}}})
                  .ok());
  cluster.AddPod("b");
  EXPECT_FALSE(IsReady(*cluster.Pod("b")));
  cluster.DeletePod("a");
  cluster.Pass(9s);
  EXPECT_EQ(cluster.Phase("a"), "Running");
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Pod("a"), nullptr);
}

TEST(Kubelet, HoldsAndReleasesPodsByRule) {
  KubeletCluster cluster;
  ASSERT_TRUE(cluster.rules().Add({{"name", "hold"}, {"script", {{"hold", "terminating"}}}}).ok());
  cluster.AddPod("web");
  cluster.DeletePod("web");
  cluster.Pass(1h);
  ASSERT_EQ(cluster.Phase("web"), "Running");
  cluster.RestartKubelet();
  cluster.Pass(1h);
  ASSERT_EQ(cluster.Phase("web"), "Running") << "a rule outlives the kubelet";
  auto released = cluster.rules().Release({{"rule", "hold"}, {"outcome", {{"exitCode", 1}}}});
  ASSERT_TRUE(released.ok());
  cluster.client().writes.clear();
  cluster.Pass(0s);
  EXPECT_EQ(cluster.Pod("web"), nullptr);
}

TEST(Kubelet, CrashesFailsAndEvictsByOrder) {
  KubeletCluster cluster;
  for (const char* name : {"crash", "fail", "evict"}) cluster.AddPod(name);
  cluster.Pass(1min);
  ASSERT_TRUE(cluster.rules().Crash({{"namespace", "default"}, {"pod", "crash"}, {"exitCode", 139}}).ok());
  ASSERT_TRUE(cluster.rules().Fail({{"namespace", "default"}, {"pod", "fail"}, {"message", "so"}}).ok());
  ASSERT_TRUE(cluster.rules().Evict({{"namespace", "default"}, {"pod", "evict"}}).ok());
  cluster.Pass(1s);
  const Json crashed = (*cluster.Pod("crash"))["status"]["containerStatuses"][0];
  EXPECT_EQ(crashed["restartCount"], 1);
  EXPECT_EQ(crashed["lastState"]["terminated"]["exitCode"], 139);
  EXPECT_EQ(cluster.Phase("fail"), "Failed");
  EXPECT_EQ(api::StringAt(*cluster.Pod("fail"), "status", "message"), "so");
  EXPECT_EQ(api::StringAt(*cluster.Pod("evict"), "status", "reason"), "Evicted");
  EXPECT_NE(api::FindCondition(*cluster.Pod("evict"), "DisruptionTarget"), nullptr);
  EXPECT_EQ(cluster.rules().Fail({{"namespace", "default"}, {"pod", "fail"}}).status().code, 409);
}

// The lines of a container's latest run, or of the previous one; nullopt if there was none.
std::optional<std::string> Printed(KubeletCluster& cluster, const ContainerRuntime& machines,
                                   const std::string& pod, bool previous = false) {
  const auto log = machines.Log({"default", pod}, "web", previous);
  if (log == nullptr) return std::nullopt;
  const api::ContainerLog::Extent extent = log->ExtentAt(cluster.bed().Now());
  std::string out;
  for (std::int64_t i = extent.begin; i < extent.end; ++i) out += log->LineAt(i).text;
  return out + (extent.ended ? "END" : "");
}

TEST(Kubelet, ShowsTheLogOfAContainerThatHasStarted) {
  auto machines = std::make_shared<ContainerRuntime>();
  KubeletCluster cluster({.events = false, .containers = machines});
  cluster.AddPod("web", {{"log", "hello\n"}, {"start-delay", "5s"}});
  EXPECT_EQ(Printed(cluster, *machines, "web"), std::nullopt);
  cluster.Pass(5s);
  EXPECT_EQ(Printed(cluster, *machines, "web"), "hello\n");
  cluster.RestartKubelet();
  EXPECT_EQ(Printed(cluster, *machines, "web"), "hello\n");
  cluster.AddPod("silent");
  EXPECT_EQ(Printed(cluster, *machines, "silent"), "");
  cluster.DeletePod("silent");
  EXPECT_EQ(Printed(cluster, *machines, "silent"), std::nullopt);
}

TEST(Kubelet, KeepsTheLogsOfTwoRuns) {
  auto machines = std::make_shared<ContainerRuntime>();
  KubeletCluster cluster({.events = false, .containers = machines});
  cluster.AddPod("web", {{"log", "tick\n"}, {"log-every", "2s"}, {"run-for", "5s"}});
  cluster.Pass(4s);
  EXPECT_EQ(Printed(cluster, *machines, "web"), "tick\ntick\ntick\n");
  EXPECT_EQ(Printed(cluster, *machines, "web", true), std::nullopt);
  cluster.Pass(1s);
  EXPECT_EQ(Printed(cluster, *machines, "web"), "tick\n");
  EXPECT_EQ(Printed(cluster, *machines, "web", true), "tick\ntick\ntick\nEND");
  // A restarted kubelet finds both.
  cluster.RestartKubelet();
  EXPECT_EQ(Printed(cluster, *machines, "web"), "tick\n");
  EXPECT_EQ(Printed(cluster, *machines, "web", true), "tick\ntick\ntick\nEND");
  cluster.Pass(6s);
  EXPECT_EQ(Printed(cluster, *machines, "web"), "tick\ntick\ntick\nEND");
}

// Without the machine state a kubelet derives from the status what has run, and since when.
TEST(Kubelet, LogsOfRunsThatItHasNotSeenFollowFromTheStatus) {
  KubeletCluster cluster;
  cluster.AddPod("web", {{"log", "tick\n"}, {"log-every", "2s"}, {"run-for", "5s"}});
  cluster.Pass(5s);
  cluster.StopKubelet();
  auto machines = std::make_shared<ContainerRuntime>();
  cluster.SetMachines(machines);
  cluster.StartKubelet();
  cluster.Pass(2s);
  EXPECT_EQ(Printed(cluster, *machines, "web"), "tick\ntick\n");
  EXPECT_EQ(Printed(cluster, *machines, "web", true), "tick\ntick\ntick\nEND");
}

TEST(Kubelet, RecordsEventsAboutContainers) {
  KubeletCluster cluster{KubeletOptions{}};
  cluster.AddPod("web");
  cluster.Pass(1s);
  std::vector<std::string> reasons;
  for (const api::ObjectPtr& object : cluster.bed().List("events")) {
    const auto event = object->Document();
    EXPECT_EQ(api::StringAt(*event, "involvedObject", "fieldPath"), "spec.containers{web}");
    EXPECT_EQ(api::StringAt(*event, "source", "component"), "kubelet");
    EXPECT_EQ(api::StringAt(*event, "source", "host"), "node-0");
    reasons.emplace_back(api::StringAt(*event, "reason"));
  }
  EXPECT_THAT(reasons, ::testing::UnorderedElementsAre("Pulled", "Created", "Started"));
}

TEST(Kubelet, GoesWithWritesUnderWay) {
  KubeletCluster cluster;
  cluster.client().before_next = [&] {};
  cluster.AddPod("web", {{"stop-after", "10s"}});
  cluster.DeletePod("web");
  cluster.StopKubelet();
  cluster.Pass(1h);
  EXPECT_EQ(cluster.Phase("web"), "Running");
  cluster.StartKubelet();
  EXPECT_EQ(cluster.Pod("web"), nullptr);
}

}  // namespace
}  // namespace terrarium::kubelet_fake::testing
