// Pods and their statuses while the kubelet is stopped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubelet-fake/kubelet/pod_rules.h"
#include "kubelet-fake/nodes/node_agent.h"
#include "tests/testbed/control_plane/component_testing.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;
using api::ListAt;
using api::StringAt;
using testing::ElementsAre;

class KubeletRestart : public testing::Test {
 protected:
  KubeletRestart() : bed({.nodes = 2}) {}

  void RunPod(const std::string& name, Json annotations) {
    Testbed::Must(bed.Create("pods", "default", TestPod(name, std::move(annotations))));
    bed.clock().RunUntil([&] { return PhaseOfPod(bed, name) == "Running"; }, 1min);
    start = bed.Now();
  }
  Json Container(const std::string& name) {
    const Json pod = DocumentOf(bed, "pods", name);
    const Json& list = ListAt(pod, "status", "containerStatuses");
    return list.empty() ? Json() : list[0];
  }
  // The state before the kubelet was stopped.
  void ExpectSame(const std::string& name, const Json& before) {
    EXPECT_EQ(DocumentOf(bed, "pods", name), before);
  }
  std::string After(api::Duration time) { return api::FormatTime(start + time); }

  Testbed bed;
  api::Time start{};
};

TEST_F(KubeletRestart, PodsThatRunGoOnUntouched) {
  RunPod("web", Json::object());
  bed.clock().Advance(90s);
  const Json before = DocumentOf(bed, "pods", "web");
  Testbed::Must(bed.Restart("kubelet"));
  bed.clock().Advance(20s);
  ExpectSame("web", before);
  Testbed::Must(bed.Crash("kubelet"));
  bed.clock().Advance(20s);
  Testbed::Must(bed.Start("kubelet"));
  bed.clock().Advance(20s);
  ExpectSame("web", before);
}

TEST_F(KubeletRestart, ARunThatIsUnderWayEndsWhenItWouldHave) {
  bed.clock().Advance(300ms);  // a status has whole seconds, the container's time is exact
  RunPod("web", {{"terrarium.dev/run-for", "60s"}, {"terrarium.dev/exit-code", "3"}});
  bed.clock().Advance(30s);
  Testbed::Must(bed.Restart("kubelet"));
  bed.clock().RunUntil([&] { return Container("web")["restartCount"] == 1; }, 5min);
  EXPECT_EQ(bed.Now(), start + 60s);
  EXPECT_EQ(Container("web")["lastState"]["terminated"]["finishedAt"], After(60s));
  EXPECT_EQ(Container("web")["lastState"]["terminated"]["startedAt"], After(0s));
}

TEST_F(KubeletRestart, ContainersThatEndedMeanwhileAreReportedWithTheirTimeAndRestartedNow) {
  RunPod("web", {{"terrarium.dev/run-for", "60s"}, {"terrarium.dev/exit-code", "3"}});
  Testbed::Must(bed.Stop("kubelet"));
  bed.clock().Advance(100s);
  EXPECT_EQ(Container("web")["state"]["running"]["startedAt"], After(0s));  // not reported yet
  Testbed::Must(bed.Start("kubelet"));
  bed.clock().Settle();
  EXPECT_EQ(Container("web")["restartCount"], 1);
  EXPECT_EQ(Container("web")["lastState"]["terminated"]["finishedAt"], After(60s));
  EXPECT_EQ(Container("web")["state"]["running"]["startedAt"], After(100s));
}

TEST_F(KubeletRestart, APodThatIsStoppingStopsWhenItWouldHave) {
  bed.clock().Advance(700ms);
  RunPod("web", {{"terrarium.dev/stop-after", "20s"}});
  Testbed::Must(bed.Delete("pods", {"default", "web"}));
  bed.clock().Advance(5s);
  Testbed::Must(bed.Restart("kubelet"));
  const api::Time deleted = bed.Now() - 5s;
  bed.clock().RunUntil([&] { return bed.Get("pods", "default", "web") == nullptr; }, 5min);
  EXPECT_EQ(bed.Now(), deleted + 20s);
}

TEST_F(KubeletRestart, APodDeletedMeanwhileIsAskedToStopWhenItIsBack) {
  RunPod("web", {{"terrarium.dev/stop-after", "20s"}});
  Testbed::Must(bed.Crash("kubelet"));
  Testbed::Must(bed.Delete("pods", {"default", "web"}));
  bed.clock().Advance(40s);
  Testbed::Must(bed.Start("kubelet"));
  bed.clock().RunUntil([&] { return bed.Get("pods", "default", "web") == nullptr; }, 5min);
  EXPECT_EQ(bed.Now(), start + 60s);
}

TEST_F(KubeletRestart, APodMadeMeanwhileIsStartedWhenItIsBack) {
  Testbed::Must(bed.Stop("kubelet"));
  Testbed::Must(bed.Create("pods", "default", TestPod("web", Json::object())));
  bed.clock().RunUntilIdle(1min);
  EXPECT_EQ(PhaseOfPod(bed, "web"), "Pending");
  Testbed::Must(bed.Start("kubelet"));
  bed.clock().RunUntilIdle(1min);
  EXPECT_EQ(PhaseOfPod(bed, "web"), "Running");
}

TEST_F(KubeletRestart, ReadinessGoesOnByTheScript) {
  RunPod("web", {{"terrarium.dev/ready-delay", "60s"}});
  bed.clock().Advance(20s);
  Testbed::Must(bed.Restart("kubelet"));
  EXPECT_FALSE(Container("web")["ready"]);
  bed.clock().RunUntil([&] { return Container("web")["ready"] == true; }, 5min);
  EXPECT_EQ(bed.Now(), start + 60s);
}

TEST_F(KubeletRestart, RulesAndHoldsSurviveARestart) {
  ASSERT_TRUE(bed.rules().Add({{"name", "slow"}, {"script", {{"stop-after", "30s"}}}}).ok());
  RunPod("web", Json::object());
  RunPod("held", Json::object());
  ASSERT_TRUE(bed.rules().Hold({{"namespace", "default"}, {"pod", "held"}, {"point", "terminating"}}).ok());
  const Json before = *bed.rules().List();
  Testbed::Must(bed.Crash("kubelet"));
  Testbed::Must(bed.Start("kubelet"));
  EXPECT_EQ(*bed.rules().List(), before);
  Testbed::Must(bed.Delete("pods", {"default", "web"}));
  Testbed::Must(bed.Delete("pods", {"default", "held"}));
  const api::Time deleted = bed.Now();
  bed.clock().RunUntil([&] { return bed.Get("pods", "default", "web") == nullptr; }, 5min);
  EXPECT_EQ(bed.Now(), deleted + 30s);
  Testbed::Must(bed.Restart("kubelet"));
  bed.clock().Advance(10min);
  EXPECT_NE(bed.Get("pods", "default", "held"), nullptr);
  ASSERT_TRUE(bed.rules().Release({{"namespace", "default"}, {"pod", "held"}}).ok());
  bed.clock().Settle();
  EXPECT_EQ(bed.Get("pods", "default", "held"), nullptr);
}

TEST_F(KubeletRestart, AnOrderThatWasNotCarriedOutYetIsCarriedOut) {
  RunPod("web", Json::object());
  ASSERT_TRUE(bed.rules().Crash({{"namespace", "default"}, {"pod", "web"}, {"exitCode", 7}}).ok());
  Testbed::Must(bed.Crash("kubelet"));  // before the response to its write
  Testbed::Must(bed.Start("kubelet"));
  bed.clock().RunUntilIdle(1min);
  EXPECT_EQ(Container("web")["restartCount"], 1);
  EXPECT_EQ(Container("web")["lastState"]["terminated"]["exitCode"], 7);
}

TEST_F(KubeletRestart, FailedNodesStayFailed) {
  ASSERT_TRUE(bed.nodes().Fail("node-1").ok());
  Testbed::Must(bed.Restart("kubelet"));
  EXPECT_THAT(bed.nodes().FailedNodes(), ElementsAre("node-1"));
  EXPECT_FALSE(bed.nodes().IsUp("node-1"));
  Testbed::Must(bed.Crash("kubelet"));
  Testbed::Must(bed.Start("kubelet"));
  EXPECT_FALSE(bed.nodes().IsUp("node-1"));
  ASSERT_TRUE(bed.nodes().Recover("node-1").ok());
  Testbed::Must(bed.Restart("kubelet"));
  EXPECT_TRUE(bed.nodes().IsUp("node-1"));
}

TEST_F(KubeletRestart, LeasesAreNotRenewedWhileItIsAwayAndThenAgain) {
  const auto renewed = [&] {
    return *api::ParseTime(
        StringAt(bed.Get("leases", "kube-node-lease", "node-0")->Parse(), "spec", "renewTime"));
  };
  bed.clock().Advance(1min);
  EXPECT_GE(renewed(), bed.Now() - 10s);
  Testbed::Must(bed.Stop("kubelet"));
  const api::Time stopped = bed.Now();
  bed.clock().Advance(30s);
  EXPECT_LE(renewed(), stopped);
  Testbed::Must(bed.Start("kubelet"));
  bed.clock().Advance(11s);
  EXPECT_GE(renewed(), bed.Now() - 11s);
}

// The response to a write is lost with the kubelet that sent it, at every step of a pod's life.
TEST_F(KubeletRestart, CrashedAfterAnyOfItsWritesAPodLivesTheSameLife) {
  for (int at = 1; at <= 8; ++at) {
    Testbed cluster({.nodes = 1});
    Testbed::Must(cluster.Create("pods", "default",
                                 TestPod("web", {{"terrarium.dev/start-delay", "5s"},
                                                 {"terrarium.dev/ready-delay", "5s"},
                                                 {"terrarium.dev/stop-after", "5s"}})));
    int changes = 0;
    std::int64_t seen = cluster.Get("pods", "default", "web")->revision();
    const auto changed = [&] {
      api::ObjectPtr pod = cluster.Get("pods", "default", "web");
      if (pod != nullptr && pod->revision() != seen) {
        ++changes;
        seen = pod->revision();
      }
      return changes >= at;
    };
    cluster.clock().RunUntil(changed, 20s);
    if (changes < at) {
      Testbed::Must(cluster.Delete("pods", {"default", "web"}));
      cluster.clock().RunUntil(changed, 3s);
    }
    Testbed::Must(cluster.Crash("kubelet"));
    Testbed::Must(cluster.Start("kubelet"));
    cluster.clock().RunUntilIdle(1min);
    if (cluster.Get("pods", "default", "web") != nullptr) {
      EXPECT_EQ(PhaseOfPod(cluster, "web"), "Running") << at;
      const Json status = DocumentOf(cluster, "pods", "web")["status"];
      EXPECT_EQ(status["containerStatuses"][0]["restartCount"], 0) << at;
      EXPECT_TRUE(status["containerStatuses"][0]["ready"]) << at;
      cluster.Delete("pods", {"default", "web"}).ok();
      cluster.clock().RunUntilIdle(1min);
    }
    EXPECT_EQ(cluster.Get("pods", "default", "web"), nullptr) << at;
  }
}

}  // namespace
}  // namespace terrarium::testbed
