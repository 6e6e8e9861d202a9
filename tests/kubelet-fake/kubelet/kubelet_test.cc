#include "kubelet-fake/kubelet/kubelet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "tests/kubelet-fake/kubelet/kubelet_plane.h"

namespace terrarium::kubelet_fake::testing {
namespace {

using namespace std::chrono_literals;
using api::Json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool IsReady(const Json& pod) { return api::StringAt(*api::FindCondition(pod, "Ready"), "status") == "True"; }

TEST(Kubelet, ReportsAPodAsPendingAndAsRunningApart) {
  KubeletPlane plane;
  plane.AddPod("web");
  EXPECT_THAT(plane.WritesOf("web"), ElementsAre("Pending", "Running"));
  const auto pod = plane.Pod("web");
  EXPECT_TRUE(IsReady(*pod));
  EXPECT_EQ(api::StringAt(*pod, "status", "podIP"), "10.244.0.1");
  EXPECT_EQ(api::StringAt(*pod, "status", "hostIP"), "172.18.0.2");
  EXPECT_EQ(api::StringAt(*pod, "status", "qosClass"), "BestEffort");
}

TEST(Kubelet, WritesNothingMoreAboutAPodThatRuns) {
  KubeletPlane plane;
  plane.AddPod("web");
  plane.Pass(24h);
  EXPECT_EQ(plane.client().writes.size(), 2U);
}

TEST(Kubelet, RemovesADeletedPodAfterItsTerminalPhase) {
  KubeletPlane plane;
  plane.AddPod("web");
  plane.DeletePod("web");
  EXPECT_THAT(plane.WritesOf("web"), ElementsAre("Pending", "Running", "Succeeded", "DELETE"));
  EXPECT_EQ(plane.Pod("web"), nullptr);
}

TEST(Kubelet, KeepsAPodThatIgnoresSigtermUntilItsGraceIsOver) {
  KubeletPlane plane;
  plane.AddPod("web", {{"ignore-sigterm", "true"}}, {{"spec", {{"terminationGracePeriodSeconds", 1800}}}});
  plane.DeletePod("web");
  plane.Pass(1799s);
  ASSERT_EQ(plane.Phase("web"), "Running");
  EXPECT_TRUE(IsReady(*plane.Pod("web")));
  plane.Pass(1s);
  EXPECT_EQ(plane.Pod("web"), nullptr);
}

TEST(Kubelet, LeavesAPodWithFinalizersInItsTerminalPhase) {
  KubeletPlane plane;
  plane.AddPod("web", {{"stop-exit-code", "1"}}, {{"metadata", {{"finalizers", {"example.com/wait"}}}}});
  plane.DeletePod("web");
  plane.Pass(1h);
  ASSERT_EQ(plane.Phase("web"), "Failed");
  EXPECT_THAT(plane.WritesOf("web"), ElementsAre("Pending", "Running", "Failed", "DELETE"));
  plane.bed().Must(plane.bed().Patch("pods", {"default", "web"}, {{"metadata", {{"finalizers", nullptr}}}}));
  plane.Pass(1s);
  EXPECT_EQ(plane.Pod("web"), nullptr);
  EXPECT_EQ(plane.client().writes.size(), 4U);
}

TEST(Kubelet, LetsAForcedDeletionThrough) {
  KubeletPlane plane;
  plane.AddPod("web", {{"hang", "true"}});
  plane.DeletePod("web");
  plane.Pass(1h);
  ASSERT_EQ(plane.Phase("web"), "Running");
  plane.DeletePod("web", 0);
  EXPECT_EQ(plane.Pod("web"), nullptr);
  plane.AddPod("web");
  EXPECT_EQ(plane.Phase("web"), "Running") << "another pod of that name is another pod";
}

TEST(Kubelet, ShortensTheGraceOfASecondDeletion) {
  KubeletPlane plane;
  plane.AddPod("web", {{"ignore-sigterm", "true"}});
  plane.DeletePod("web", 1800);
  plane.Pass(1min);
  plane.DeletePod("web", 5);
  plane.Pass(4s);
  ASSERT_EQ(plane.Phase("web"), "Running");
  plane.Pass(1s);
  EXPECT_EQ(plane.Pod("web"), nullptr);
}

TEST(Kubelet, GatesDecideWhetherADeletedPodGetsATerminalPhase) {
  KubeletPlane plane;
  plane.gates() = *api::FeatureGates().With("PodDisruptionConditions=false,JobPodReplacementPolicy=true");
  plane.AddPod("one");
  plane.DeletePod("one");
  EXPECT_THAT(plane.WritesOf("one"), ElementsAre("Pending", "Running", "Succeeded", "DELETE"));
  plane.gates() = *api::FeatureGates().With("PodDisruptionConditions=false,JobPodReplacementPolicy=false");
  plane.AddPod("two");
  plane.DeletePod("two");
  EXPECT_THAT(plane.WritesOf("two"), ElementsAre("Pending", "Running", "-", "DELETE"));
}

TEST(Kubelet, TakesUpPodsOfAnEarlierKubelet) {
  KubeletPlane plane;
  plane.AddPod("web", {{"run-for", "1m"}, {"exit-code", "1"}});
  plane.AddPod("held", {{"hold", "terminating"}});
  plane.DeletePod("held");
  plane.Pass(90s);
  const Json before = *plane.Pod("web");
  plane.client().writes.clear();
  plane.RestartKubelet();
  plane.Pass(20s);
  EXPECT_THAT(plane.client().writes, IsEmpty());
  EXPECT_EQ(*plane.Pod("web"), before);
  plane.Pass(20s);  // back-off after the second run
  EXPECT_EQ((*plane.Pod("web"))["status"]["containerStatuses"][0]["restartCount"], 2);
  EXPECT_EQ(plane.Phase("held"), "Running");
}

TEST(Kubelet, GivesNoPodAnAddressThatAnotherHas) {
  KubeletPlane plane;
  plane.AddPod("a");
  plane.AddPod("b");
  plane.RestartKubelet();
  plane.AddPod("c");
  plane.AddPod("hosted", {}, {{"spec", {{"hostNetwork", true}}}});
  std::set<std::string> addresses;
  for (const char* name : {"a", "b", "c"}) addresses.emplace(api::StringAt(*plane.Pod(name), "status", "podIP"));
  EXPECT_EQ(addresses.size(), 3U);
  EXPECT_EQ(api::StringAt(*plane.Pod("hosted"), "status", "podIP"), "172.18.0.2");
}

TEST(Kubelet, ChangesNothingOnANodeThatIsDownAndCatchesUpWhenItIsBack) {
  KubeletPlane plane;
  plane.AddPod("short", {{"run-for", "30s"}}, {{"spec", {{"restartPolicy", "Never"}}}});
  plane.AddPod("long", {{"stop-after", "10s"}});
  plane.client().writes.clear();
  plane.nodes().Set("node-0", false);
  plane.AddPod("late");
  plane.DeletePod("long");
  plane.Pass(10min);
  EXPECT_THAT(plane.client().writes, IsEmpty());
  plane.nodes().Set("node-0", true);
  plane.Pass(0s);
  EXPECT_EQ(plane.Phase("short"), "Succeeded");
  EXPECT_EQ(plane.Phase("late"), "Running");
  EXPECT_EQ((*plane.Pod("short"))["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"],
            "2026-01-01T00:00:30Z");
  EXPECT_EQ(plane.Phase("long"), "Running") << "it learns only now that it is to stop";
  plane.Pass(10s);
  EXPECT_EQ(plane.Pod("long"), nullptr);
}

TEST(Kubelet, PutsReadinessRightThatOthersTookFromThePodsOfALostNode) {
  KubeletPlane plane;
  plane.AddPod("web");
  plane.nodes().Set("node-0", false);
  const Json unready = {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "False"}, {"reason", "Lost"}}}}}}};
  plane.bed().Must(plane.bed().Patch("pods", {"default", "web"}, unready, "status"));
  plane.Pass(1min);
  ASSERT_FALSE(IsReady(*plane.Pod("web")));
  plane.nodes().Set("node-0", true);
  plane.Pass(0s);
  EXPECT_TRUE(IsReady(*plane.Pod("web")));
  EXPECT_EQ(api::StringAt(*api::FindCondition(*plane.Pod("web"), "Ready"), "reason"), "");
}

TEST(Kubelet, TriesAgainWhenTheApiserverIsAway) {
  KubeletPlane plane;
  plane.client().failures_left = 3;
  plane.AddPod("web");
  EXPECT_EQ(plane.Phase("web"), "Pending");
  plane.Pass(10s);
  EXPECT_EQ(plane.Phase("web"), "Running");
  EXPECT_TRUE(IsReady(*plane.Pod("web")));
  plane.client().failures_left = 2;
  plane.DeletePod("web");
  plane.Pass(10s);
  EXPECT_EQ(plane.Pod("web"), nullptr);
}

// 1. The kubelet writes Running. 2. Before that arrives the pod is deleted. 3. The answer holds both changes, and the
// deletion's own event comes to a kubelet that has a newer state already.
TEST(Kubelet, SeesADeletionThatCameBetweenItsWriteAndTheAnswer) {
  KubeletPlane plane;
  plane.client().before_next = [&] {
    plane.client().before_next = [&] { plane.bed().Must(plane.bed().Delete("pods", {"default", "web"})); };
  };
  plane.AddPod("web");
  plane.Pass(1s);
  EXPECT_EQ(plane.Pod("web"), nullptr);
}

TEST(Kubelet, TakesANewScriptWhereItStillMatters) {
  KubeletPlane plane;
  plane.AddPod("web", {}, {{"spec", {{"restartPolicy", "Never"}}}});
  plane.Pass(10s);
  const Json script = {{"terrarium.dev/run-for", "15s"}, {"terrarium.dev/exit-code", "2"}};
  const Json patch = {{"metadata", {{"annotations", script}}}};
  plane.bed().Must(plane.bed().Patch("pods", {"default", "web"}, patch));
  plane.Pass(4s);
  ASSERT_EQ(plane.Phase("web"), "Running");
  plane.Pass(1s);
  EXPECT_EQ(plane.Phase("web"), "Failed");
}

TEST(Kubelet, FollowsRulesForPodsThatAreThereAndThatCome) {
  KubeletPlane plane;
  plane.AddPod("a");
  ASSERT_TRUE(plane.rules().Add({{"name", "slow"}, {"script", {{"stop-after", "10s"}, {"ready-delay", "5s"}}}}).ok());
  plane.AddPod("b");
  EXPECT_FALSE(IsReady(*plane.Pod("b")));
  plane.DeletePod("a");
  plane.Pass(9s);
  EXPECT_EQ(plane.Phase("a"), "Running");
  plane.Pass(1s);
  EXPECT_EQ(plane.Pod("a"), nullptr);
}

TEST(Kubelet, HoldsAndReleasesPodsByRule) {
  KubeletPlane plane;
  ASSERT_TRUE(plane.rules().Add({{"name", "hold"}, {"script", {{"hold", "terminating"}}}}).ok());
  plane.AddPod("web");
  plane.DeletePod("web");
  plane.Pass(1h);
  ASSERT_EQ(plane.Phase("web"), "Running");
  plane.RestartKubelet();
  plane.Pass(1h);
  ASSERT_EQ(plane.Phase("web"), "Running") << "a rule outlives the kubelet";
  auto released = plane.rules().Release({{"rule", "hold"}, {"outcome", {{"exitCode", 1}}}});
  ASSERT_TRUE(released.ok());
  plane.client().writes.clear();
  plane.Pass(0s);
  EXPECT_EQ(plane.Pod("web"), nullptr);
}

TEST(Kubelet, CrashesFailsAndEvictsByOrder) {
  KubeletPlane plane;
  for (const char* name : {"crash", "fail", "evict"}) plane.AddPod(name);
  plane.Pass(1min);
  ASSERT_TRUE(plane.rules().Crash({{"namespace", "default"}, {"pod", "crash"}, {"exitCode", 139}}).ok());
  ASSERT_TRUE(plane.rules().Fail({{"namespace", "default"}, {"pod", "fail"}, {"message", "so"}}).ok());
  ASSERT_TRUE(plane.rules().Evict({{"namespace", "default"}, {"pod", "evict"}}).ok());
  plane.Pass(1s);
  const Json crashed = (*plane.Pod("crash"))["status"]["containerStatuses"][0];
  EXPECT_EQ(crashed["restartCount"], 1);
  EXPECT_EQ(crashed["lastState"]["terminated"]["exitCode"], 139);
  EXPECT_EQ(plane.Phase("fail"), "Failed");
  EXPECT_EQ(api::StringAt(*plane.Pod("fail"), "status", "message"), "so");
  EXPECT_EQ(api::StringAt(*plane.Pod("evict"), "status", "reason"), "Evicted");
  EXPECT_NE(api::FindCondition(*plane.Pod("evict"), "DisruptionTarget"), nullptr);
  EXPECT_EQ(plane.rules().Fail({{"namespace", "default"}, {"pod", "fail"}}).status().code, 409);
}

TEST(Kubelet, ShowsTheLogOfAContainerThatHasStarted) {
  KubeletPlane plane;
  plane.AddPod("web", {{"log", "hello\n"}, {"start-delay", "5s"}});
  EXPECT_EQ(plane.kubelet().Log("default", "web", "web"), std::nullopt);
  plane.Pass(5s);
  EXPECT_EQ(plane.kubelet().Log("default", "web", "web"), "hello\n");
  plane.RestartKubelet();
  EXPECT_EQ(plane.kubelet().Log("default", "web", "web"), "hello\n");
  plane.AddPod("silent");
  EXPECT_EQ(plane.kubelet().Log("default", "silent", "web"), "");
  plane.DeletePod("silent");
  EXPECT_EQ(plane.kubelet().Log("default", "silent", "web"), std::nullopt);
}

TEST(Kubelet, RecordsEventsAboutContainers) {
  KubeletPlane plane{KubeletOptions{}};
  plane.AddPod("web");
  plane.Pass(1s);
  std::vector<std::string> said;
  for (const api::ObjectPtr& object : plane.bed().List("events")) {
    const auto event = object->Document();
    EXPECT_EQ(api::StringAt(*event, "involvedObject", "fieldPath"), "spec.containers{web}");
    EXPECT_EQ(api::StringAt(*event, "source", "component"), "kubelet");
    EXPECT_EQ(api::StringAt(*event, "source", "host"), "node-0");
    said.emplace_back(api::StringAt(*event, "reason"));
  }
  EXPECT_THAT(said, ::testing::UnorderedElementsAre("Pulled", "Created", "Started"));
}

TEST(Kubelet, GoesWithWritesUnderWay) {
  KubeletPlane plane;
  plane.client().before_next = [&] {};
  plane.AddPod("web", {{"stop-after", "10s"}});
  plane.DeletePod("web");
  plane.StopKubelet();
  plane.Pass(1h);
  EXPECT_EQ(plane.Phase("web"), "Running");
  plane.StartKubelet();
  EXPECT_EQ(plane.Pod("web"), nullptr);
}

}  // namespace
}  // namespace terrarium::kubelet_fake::testing
