// Messages and values of a pod's status and events, and interventions by other clients.

#include "kubelet-fake/kubelet/pod_life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "tests/kubelet-fake/kubelet/life_player.h"

namespace terrarium::kubelet_fake::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json At(Duration after) { return api::FormatTime(kBeginning + after); }

Json Condition(const Json& pod, std::string_view type) {
  const Json* found = api::FindCondition(pod, type);
  return found != nullptr ? *found : Json();
}

Json Web(const LifePlayer& player) { return player.pod()["status"]["containerStatuses"][0]; }

TEST(PodStatus, OfANewPodReportsThatItsContainersAreBeingCreated) {
  LifePlayer player(BoundPod({{"start-delay", "1h"}}));
  player.Until(1s);
  const Json& status = player.pod()["status"];
  EXPECT_EQ(status["phase"], "Pending");
  EXPECT_EQ(status["startTime"], At(0s));
  EXPECT_EQ(status["hostIP"], "172.18.0.2");
  EXPECT_EQ(status["hostIPs"], Json::parse(R"([{"ip": "172.18.0.2"}])"));
  EXPECT_EQ(status["podIP"], "10.244.0.1");
  EXPECT_EQ(status["observedGeneration"], 1);
  EXPECT_EQ(status["containerStatuses"], Json::parse(R"([{
    "name": "web", "image": "web:1", "imageID": "", "ready": false, "started": false, "restartCount": 0,
    "state": {"waiting": {"reason": "ContainerCreating"}}, "lastState": {}}])"));
  EXPECT_EQ(Condition(player.pod(), "Ready"), (Json{{"type", "Ready"},
                                                    {"status", "False"},
                                                    {"reason", "ContainersNotReady"},
                                                    {"message", "containers with unready status: [web]"},
                                                    {"lastTransitionTime", At(0s)},
                                                    {"observedGeneration", 1}}));
}

TEST(PodStatus, ConditionsComeInTheKubeletsOrder) {
  LifePlayer player(BoundPod());
  player.Until(1s);
  std::vector<std::string> types;
  for (const Json& condition : player.pod()["status"]["conditions"]) types.push_back(condition["type"]);
  EXPECT_THAT(types, ElementsAre("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady",
                                 "PodScheduled"));
}

TEST(PodStatus, AConditionThatHoldsHasNeitherReasonNorMessageLeft) {
  LifePlayer player(BoundPod({{"ready-delay", "5s"}}));
  player.Until(10s);
  EXPECT_EQ(
      Condition(player.pod(), "Ready"),
      (Json{
          {"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", At(5s)}, {"observedGeneration", 1}}));
}

TEST(PodStatus, OfARunningContainerHasIdentityAndResources) {
  const Json resources = {{"requests", {{"cpu", "1"}}}, {"limits", {{"cpu", "2"}}}};
  const Json mounts = Json::array({{{"name", "v"}, {"mountPath", "/v"}, {"readOnly", true}}});
  LifePlayer player(BoundPod(
      {}, {{"containers",
            Json::array({MakeContainer("web", {{"resources", resources}, {"volumeMounts", mounts}})})}}));
  player.Until(1s);
  const Json web = Web(player);
  EXPECT_THAT(web["containerID"].get<std::string>(), ::testing::MatchesRegex("containerd://[0-9a-f]{64}"));
  EXPECT_THAT(web["imageID"].get<std::string>(), ::testing::MatchesRegex("web@sha256:[0-9a-f]{64}"));
  EXPECT_EQ(web["state"], (Json{{"running", {{"startedAt", At(0s)}}}}));
  EXPECT_EQ(web["resources"], resources);
  EXPECT_EQ(web["allocatedResources"], (Json{{"cpu", "1"}}));
  EXPECT_EQ(web["volumeMounts"][0]["recursiveReadOnly"], "Disabled");
  EXPECT_EQ(web["started"], true);
}

TEST(PodStatus, OfACrashLoopHasTheBackOffAndTheLastExit) {
  LifePlayer player(BoundPod({{"run-for", "1s"}, {"exit-code", "1"}, {"exit-reason", "OOMKilled"}}));
  player.Until(3s);
  const Json web = Web(player);
  EXPECT_EQ(web["state"]["waiting"],
            (Json{{"reason", "CrashLoopBackOff"},
                  {"message", "back-off 10s restarting failed container=web pod=p_ns(u-1)"}}));
  const Json& last = web["lastState"]["terminated"];
  EXPECT_EQ(last["exitCode"], 1);
  EXPECT_EQ(last["reason"], "OOMKilled");
  EXPECT_EQ(last["startedAt"], At(1s));
  EXPECT_EQ(last["finishedAt"], At(2s));
  EXPECT_EQ(last["containerID"], web["containerID"]);
}

TEST(PodStatus, EachRunOfAContainerHasAnIdentityOfItsOwn) {
  LifePlayer player(BoundPod({{"run-for", "10s"}}));
  player.Until(1s);
  const Json first = Web(player)["containerID"];
  player.Until(11s);
  EXPECT_NE(Web(player)["containerID"], first);
  EXPECT_EQ(Web(player)["lastState"]["terminated"]["containerID"], first);
}

TEST(PodStatus, TheBackOffGrowsToFiveMinutesAndNoFurther) {
  LifePlayer player(BoundPod({{"exit-code", "1"}}));
  player.Until(2h);
  std::vector<std::string> back_offs;
  for (const std::string& line : player.lines()) {
    const std::size_t begin = line.find("loop(");
    if (begin != std::string::npos) back_offs.push_back(line.substr(begin + 5, line.find(')') - begin - 5));
  }
  back_offs.resize(8);
  EXPECT_THAT(back_offs, ElementsAre("10s", "20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s", "5m0s"));
}

TEST(PodStatus, RegularContainersComeByNameAndMessagesInTheSpecsOrder) {
  LifePlayer player(BoundPod({{"never-ready", "true"}},
                             {{"containers", Json::array({MakeContainer("z"), MakeContainer("a")})}}));
  player.Until(1s);
  EXPECT_EQ(player.pod()["status"]["containerStatuses"][0]["name"], "a");
  EXPECT_EQ(Condition(player.pod(), "ContainersReady")["message"], "containers with unready status: [z a]");
}

TEST(PodStatus, OfAnUnsetReadinessGateNamesIt) {
  LifePlayer player(BoundPod({}, {{"readinessGates", Json::array({{{"conditionType", "x/y"}}})}}));
  player.Until(1s);
  EXPECT_EQ(Condition(player.pod(), "Ready")["reason"], "ReadinessGatesNotReady");
  EXPECT_EQ(Condition(player.pod(), "Ready")["message"],
            "corresponding condition of pod readiness gate \"x/y\" does not exist.");
  player.SetStatusOfGate("x/y", "False");
  player.Until(2s);
  EXPECT_EQ(Condition(player.pod(), "Ready")["message"],
            "the status of pod readiness gate \"x/y\" is not \"True\", but False");
}

TEST(PodStatus, OfAPodThatNeverStartedReportsThatItsContainersWereNotFound) {
  LifePlayer player(BoundPod({{"start-delay", "1h"}}));
  player.Until(1min);
  player.Delete(30);
  player.Until(2min);
  EXPECT_EQ(Web(player)["state"]["terminated"],
            (Json{{"exitCode", 137},
                  {"reason", "ContainerStatusUnknown"},
                  {"startedAt", nullptr},
                  {"finishedAt", nullptr},
                  {"message", "The container could not be located when the pod was terminated"}}));
}

TEST(PodStatus, ADeletionIsObserved) {
  LifePlayer player(BoundPod({{"stop-after", "10s"}}));
  player.Until(1min);
  player.Delete(30);
  player.Until(61s);
  EXPECT_EQ(player.pod()["status"]["observedGeneration"], 2);
  EXPECT_EQ(Condition(player.pod(), "Ready")["observedGeneration"], 2);
  EXPECT_EQ(Condition(player.pod(), "Ready")["lastTransitionTime"], At(0s));
}

TEST(PodStatus, PastItsDeadlineIsFailedWithTheKubeletsWords) {
  LifePlayer player(BoundPod({}, {{"activeDeadlineSeconds", 5}}));
  player.Until(1min);
  EXPECT_EQ(player.pod()["status"]["message"],
            "Pod was active on the node longer than the specified deadline");
  EXPECT_EQ(Condition(player.pod(), "Ready")["reason"], "PodFailed");
  EXPECT_THAT(player.events(),
              ::testing::Contains("Normal DeadlineExceeded Pod was active on the node longer than the "
                                  "specified deadline"));
}

TEST(PodStatus, AnEvictionLeavesADisruptionConditionOnlyWithItsGate) {
  for (const bool gate : {true, false}) {
    LifePlayer player(BoundPod());
    player.SetGates({.terminal_phase_before_removal = true, .disruption_conditions = gate});
    player.Until(1min);
    ASSERT_TRUE(player.life().Evict("no room", player.now()));
    player.Until(2min);
    EXPECT_EQ(player.pod()["status"]["message"], "no room");
    EXPECT_THAT(player.events(), ::testing::Contains("Warning Evicted no room"));
    const Json condition = Condition(player.pod(), "DisruptionTarget");
    EXPECT_EQ(condition.is_null(), !gate);
    if (gate) {
      EXPECT_EQ(condition["reason"], "TerminationByKubelet");
      EXPECT_EQ(condition["message"], "no room");
    }
  }
}

TEST(PodEvents, OfAPlainLife) {
  LifePlayer player(BoundPod());
  player.Until(1min);
  player.Delete(30);
  player.Until(2min);
  EXPECT_THAT(
      player.events(),
      ElementsAre("web: Normal Pulled Container image \"web:1\" already present on machine and can be "
                  "accessed by the pod",
                  "web: Normal Created Container created", "web: Normal Started Container started",
                  "web: Normal Killing Stopping container web"));
}

TEST(PodEvents, AStartDelayIsThePullOfTheImage) {
  LifePlayer player(BoundPod({{"start-delay", "90s"}}));
  player.Until(1h);
  EXPECT_THAT(
      player.events(),
      ElementsAre(
          "web: Normal Pulling Pulling image \"web:1\"",
          "web: Normal Pulled Successfully pulled image \"web:1\" in 1m30s (1m30s including waiting). "
          "Image size: 20000000 bytes.",
          "web: Normal Created Container created", "web: Normal Started Container started"));
}

TEST(PodEvents, OfACrashLoopAndAFailedProbe) {
  LifePlayer crash(BoundPod({{"exit-code", "1"}}));
  crash.Until(1s);
  EXPECT_EQ(crash.events().back(),
            "web: Warning BackOff Back-off restarting failed container web in pod p_ns(u-1)");
  LifePlayer probe(BoundPod({{"liveness", "5s:false"}}));
  probe.Until(5s);
  EXPECT_THAT(probe.events(),
              ::testing::IsSupersetOf({"web: Warning Unhealthy Liveness probe failed: ",
                                       "web: Normal Killing Container web failed liveness probe, "
                                       "will be restarted"}));
}

TEST(PodTakenUp, GoesOnWhereItStoodWithoutAnEvent) {
  LifePlayer player(BoundPod({{"run-for", "1m"}, {"exit-code", "1"}}));
  player.Until(90s);  // in its second run
  const std::size_t before = player.lines().size();
  player.Restart();
  player.Until(95s);
  EXPECT_EQ(player.lines().size(), before);
  player.Until(130s);
  std::vector<std::string> more = player.lines();
  more.erase(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(before));
  EXPECT_THAT(more, ElementsAre("2m0s Running SI-- web=exit1#1", "2m0s Running SI-- web=loop(10s)#1",
                                "2m10s Running SICR web=ready#2"));
}

TEST(PodTakenUp, InACrashLoopKeepsItsBackOff) {
  LifePlayer player(BoundPod({{"exit-code", "1"}}));
  player.Until(31s);  // 40 seconds from 30 s on
  ASSERT_EQ(player.lines().back(), "30s Running SI-- web=loop(40s)#3");
  player.Restart();
  player.Until(70s);
  EXPECT_EQ(player.lines().back(), "1m10s Running SI-- web=loop(1m20s)#4");
}

TEST(PodTakenUp, WhileItIsBeingStoppedStopsWhenItWouldHave) {
  LifePlayer player(BoundPod({{"stop-after", "20s"}}));
  player.Until(1min);
  player.Delete(30);
  player.Until(70s);
  player.Restart();
  player.Until(1h);
  EXPECT_EQ(player.lines().back(), "1m20s removed");
}

TEST(PodTakenUp, ReportsTheTimeOfAnEndDuringTheOutage) {
  LifePlayer player(BoundPod({{"run-for", "30s"}}, {{"restartPolicy", "Never"}}));
  player.Until(10s);
  Json left = player.pod();
  LifePlayer later(left);
  // The new kubelet starts ten minutes later.
  later.life() = PodLife(left, kBeginning + 10min);
  later.Direct([](PodDirections&) {});
  later.life().Advance(kBeginning + 10min, {});
  const Json patch = later.life().TakePatch();
  EXPECT_EQ(patch["status"]["phase"], "Succeeded");
  EXPECT_EQ(patch["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"], At(30s));
}

TEST(PodLife, StopsContainersOfAPodThatAnotherClientEnded) {
  LifePlayer player(BoundPod());
  player.Until(1min);
  Json ended = player.pod();
  ended["status"]["phase"] = "Failed";
  ended["status"]["reason"] = "NodeLost";
  player.life().Observe(ended, player.now());
  player.life().Advance(player.now(), {});
  const Json patch = player.life().TakePatch();
  EXPECT_FALSE(patch["status"].contains("phase")) << patch;
  EXPECT_EQ(patch["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 0);
  EXPECT_TRUE(player.life().over());
}

TEST(PodLife, PutsRightWhatOthersWroteIntoItsStatus) {
  LifePlayer player(BoundPod());
  player.Until(1min);
  EXPECT_TRUE(player.life().AgreesWith(player.pod()));
  EXPECT_TRUE(player.life().TakePatchAgainst(player.pod()).is_null());
  Json touched = player.pod();
  for (Json& condition : touched["status"]["conditions"]) {
    if (condition["type"] == "Ready") condition.update({{"status", "False"}, {"reason", "NodeNotReady"}});
  }
  EXPECT_FALSE(player.life().AgreesWith(touched));
  EXPECT_EQ(player.life().TakePatchAgainst(touched)["status"],
            (Json{{"conditions", Json::array({{{"type", "Ready"},
                                               {"status", "True"},
                                               {"reason", nullptr},
                                               {"lastTransitionTime", At(0s)},
                                               {"observedGeneration", 1}}})}}));
}

TEST(PodLife, LeavesConditionsOfOthersAlone) {
  LifePlayer player(BoundPod());
  player.Until(1min);
  Json touched = player.pod();
  touched["status"]["conditions"].push_back(
      {{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "Mine"}});
  player.life().Observe(touched, player.now());
  EXPECT_TRUE(player.life().AgreesWith(touched));
  EXPECT_TRUE(player.life().TakePatchAgainst(touched).is_null());
}

TEST(PodLife, ATerminatedContainerOfAHeldPodIsNotShownBeforeTheOthersHaveEnded) {
  const Json two = {{"containers", Json::array({MakeContainer("a"), MakeContainer("b")})}};
  LifePlayer player(BoundPod({{"hang.b", "true"}}, two));
  player.Until(1min);
  player.Delete(30);
  player.Until(1h);
  EXPECT_EQ(player.lines().back(), "1m0s Running SICR a=ready b=ready");
  player.Direct([](PodDirections& d) { d.let_go = true; });
  player.Until(2h);
  EXPECT_EQ(player.pod()["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"], At(1min));
  EXPECT_EQ(player.pod()["status"]["containerStatuses"][1]["state"]["terminated"]["finishedAt"], At(1h));
}

TEST(PodLife, ReleasedFollowsItsScriptAgain) {
  LifePlayer player(BoundPod({{"hold", "terminating"}, {"stop-after", "20s"}}));
  player.Until(1min);
  player.Delete(30);
  player.Until(65s);
  EXPECT_TRUE(player.life().HeldAt().terminating);
  player.Direct([](PodDirections& d) { d.let_go = true; });
  player.Until(1h);
  EXPECT_EQ(player.lines().back(), "1m20s removed");
}

TEST(PodLife, CrashOfAContainerThatDoesNotRunIsRefused) {
  LifePlayer player(BoundPod({{"start-delay", "1h"}}));
  player.Until(1s);
  EXPECT_FALSE(player.life().Crash({.container = "web", .exit_code = 1, .reason = ""}, player.now()));
  EXPECT_FALSE(player.life().Crash({.container = "nobody", .exit_code = 1, .reason = ""}, player.now()));
}

}  // namespace
}  // namespace terrarium::kubelet_fake::testing
