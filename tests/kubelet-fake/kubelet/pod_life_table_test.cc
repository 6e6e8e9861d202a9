// The expected states of each script: starts, ends and probes of pods.

#include "tests/kubelet-fake/kubelet/script_case.h"

namespace terrarium::kubelet_fake::testing {
namespace {

std::vector<Case> Starting() {
  return {
      {"without a script a pod runs until it is deleted",
       BoundPod(),
       DeleteAt(1min, 30, 1h),
       {"0s Pending -I-- web=creating", "0s Running SICR web=ready", "1m0s Succeeded -I-- web=exit0",
        "1m0s removed"}},
      {"start delay",
       BoundPod({{"start-delay", "10s"}}),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Pending SI-- web=creating", "10s Running SICR web=ready"}},
      {"start delay of one container",
       BoundPod({{"start-delay.b", "10s"}}, Containers({MakeContainer("a"), MakeContainer("b")})),
       LiveUntil(1h),
       {"0s Pending -I-- a=creating b=creating", "0s Pending SI-- a=ready b=creating",
        "10s Running SICR a=ready b=ready"}},
      {"ready delay",
       BoundPod({{"ready-delay", "1.5s"}}),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Running SI-- web=up", "1.5s Running SICR web=ready"}},
      {"start delay and ready delay add up",
       BoundPod({{"start-delay", "2s"}, {"ready-delay", "3s"}}),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Pending SI-- web=creating", "2s Running SI-- web=up",
        "5s Running SICR web=ready"}},
      {"never ready",
       BoundPod({{"never-ready", "true"}}),
       LiveUntil(24h),
       {"0s Pending -I-- web=creating", "0s Running SI-- web=up"}},
      {"one container of two is late to be ready",
       BoundPod({{"ready-delay.b", "4s"}}, Containers({MakeContainer("a"), MakeContainer("b")})),
       LiveUntil(1h),
       {"0s Pending -I-- a=creating b=creating", "0s Running SI-- a=ready b=up",
        "4s Running SICR a=ready b=ready"}},
      {"a readiness probe passes after its initial delay",
       BoundPod({}, Containers({MakeContainer("web", {{"readinessProbe", {{"initialDelaySeconds", 7}}}})})),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Running SI-- web=up", "7s Running SICR web=ready"}},
      {"a startup probe comes before readiness",
       BoundPod({{"ready-delay", "1s"}},
                Containers({MakeContainer("web", {{"startupProbe", {{"initialDelaySeconds", 5}}}})})),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Running SI-- web=up", "5s Running SICR web=ready"}},
      {"a readiness gate that no client sets",
       BoundPod({}, {{"readinessGates", Json::array({{{"conditionType", "x/y"}}})}}),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Running SIC- web=ready"}},
      {"a readiness gate that is set later",
       BoundPod({}, {{"readinessGates", Json::array({{{"conditionType", "x/y"}}})}}),
       [](LifePlayer& pod) {
         pod.Until(9s);
         pod.SetStatusOfGate("x/y", "True");
         pod.Until(1h);
       },
       {"0s Pending -I-- web=creating", "0s Running SIC- web=ready", "9s Running SICR web=ready"}},
      {"held before ready and released",
       BoundPod({{"hold", "ready"}}),
       [](LifePlayer& pod) {
         pod.Until(1h);
         pod.Direct([](PodDirections& d) { d.let_go = true; });
         pod.Until(2h);
       },
       {"0s Pending -I-- web=creating", "0s Running SI-- web=up", "1h0m0s Running SICR web=ready"}},
  };
}

std::vector<Case> Ending() {
  return {
      {"runs and succeeds",
       BoundPod({{"run-for", "5s"}}, kNever),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "5s Succeeded -I-- web=exit0"}},
      {"runs and fails",
       BoundPod({{"run-for", "5s"}, {"exit-code", "3"}}, kNever),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "5s Failed -I-- web=exit3"}},
      {"an exit code alone ends immediately",
       BoundPod({{"exit-code", "1"}}, kNever),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "0s Failed -I-- web=exit1"}},
      {"ends before it would be ready",
       BoundPod({{"run-for", "5s"}, {"ready-delay", "1m"}}, kNever),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating",
        "0s Running SI-- web=up",
        "5s Succeeded -I-- web=exit0"}},
      {"two containers that end apart, one of them badly",
       BoundPod({{"run-for.a", "1s"}, {"exit-code.a", "2"}, {"run-for.b", "9s"}},
                With(kNever, Containers({MakeContainer("a"), MakeContainer("b")}))),
       LiveUntil(1h),
       {"0s Pending -I-- a=creating b=creating",
        "0s Running SICR a=ready b=ready",
        "1s Running SI-- a=exit2 b=ready",
        "9s Failed -I-- a=exit2 b=exit0"}},
      {"restart on failure only: success",
       BoundPod({{"run-for", "5s"}}, kOnFailure),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "5s Succeeded -I-- web=exit0"}},
      {"the first restart comes immediately, the next after a back-off that doubles",
       BoundPod({{"run-for", "1s"}, {"exit-code", "1"}}),
       LiveUntil(35s),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "1s Running SI-- web=exit1",
        "1s Running SICR web=ready#1",
        "2s Running SI-- web=exit1#1",
        "2s Running SI-- web=loop(10s)#1",
        "12s Running SICR web=ready#2",
        "13s Running SI-- web=exit1#2",
        "13s Running SI-- web=loop(20s)#2",
        "33s Running SICR web=ready#3",
        "34s Running SI-- web=exit1#3",
        "34s Running SI-- web=loop(40s)#3"}},
      {"a container that is to run always starts again after success",
       BoundPod({{"run-for", "1m"}}),
       LiveUntil(2min),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "1m0s Running SI-- web=exit0",
        "1m0s Running SICR web=ready#1",
        "2m0s Running SI-- web=exit0#1",
        "2m0s Running SI-- web=loop(10s)#1"}},
      {"more than ten minutes of running make the back-off forgotten",
       BoundPod({{"run-for", "11m"}, {"exit-code", "1"}}),
       LiveUntil(22min),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "11m0s Running SI-- web=exit1",
        "11m0s Running SICR web=ready#1",
        "22m0s Running SI-- web=exit1#1",
        "22m0s Running SICR web=ready#2"}},
      {"a crash by order restarts the container",
       BoundPod(),
       CrashAt(1min, 139, 2min),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "1m0s Running SI-- web=exit139",
        "1m0s Running SICR web=ready#1"}},
      {"a container that is not restarted ends after a second",
       BoundPod({}, kNever),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Running SICR web=ready", "1s Succeeded -I-- web=exit0"}},
      {"and so does one that is restarted only after a failure",
       BoundPod({}, {{"restartPolicy", "OnFailure"}}),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Running SICR web=ready", "1s Succeeded -I-- web=exit0"}},
      {"unless it runs forever",
       BoundPod({{"run-for", "forever"}}, kNever),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Running SICR web=ready"}},
      {"a crash by order ends a pod that does not restart",
       BoundPod({{"run-for", "forever"}}, kNever),
       CrashAt(1min, 139, 2min),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "1m0s Failed -I-- web=exit139"}},
      {"a container's own restart policy wins",
       BoundPod({{"run-for.a", "1s"}, {"exit-code.a", "1"}},
                Containers({MakeContainer("a", {{"restartPolicy", "Never"}}), MakeContainer("b")})),
       LiveUntil(1h),
       {"0s Pending -I-- a=creating b=creating",
        "0s Running SICR a=ready b=ready",
        "1s Running SI-- a=exit1 b=ready"}},
      {"a restart rule for an exit code",
       BoundPod({{"run-for", "1s"}, {"exit-code", "42"}},
                With(kNever, Containers({MakeContainer(
                                 "web", {{"restartPolicy", "Never"},
                                         {"restartPolicyRules",
                                          Json::array({{{"action", "Restart"},
                                                        {"exitCodes", {{"operator", "In"}, {"values", {42}}}}}})}})}))),
       LiveUntil(2s),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "1s Running SI-- web=exit42",
        "1s Running SICR web=ready#1",
        "2s Running SI-- web=exit42#1",
        "2s Running SI-- web=loop(10s)#1"}},
      {"past its deadline",
       BoundPod({{"stop-after", "2s"}}, {{"activeDeadlineSeconds", 60}}),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "1m0s Running SI-- web=ready",
        "1m2s Failed/DeadlineExceeded -I-- web=exit0"}},
      {"past its deadline before it has started",
       BoundPod({{"start-delay", "2m"}}, {{"activeDeadlineSeconds", 60}}),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating",
        "0s Pending SI-- web=creating",
        "1m0s Failed/DeadlineExceeded -I-- web=exit137"}},
      {"evicted",
       BoundPod({{"ignore-sigterm", "true"}}),
       [](LifePlayer& pod) {
         pod.Until(1min);
         EXPECT_TRUE(pod.life().Evict("The node was low on resource: memory. ", pod.now()));
         pod.Until(1h);
       },
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "1m1s Failed/Evicted -I-- web=exit137"}},
      {"failed by order whatever its restart policy",
       BoundPod(),
       [](LifePlayer& pod) {
         pod.Until(1min);
         EXPECT_TRUE(pod.life().Fail({.exit_code = 7, .reason = "Scripted", .message = "so"}, pod.now()));
         pod.Until(1h);
       },
       {"0s Pending -I-- web=creating",
        "0s Running SICR web=ready",
        "1m0s Failed/Scripted -I-- web=exit7"}},
  };
}

std::vector<Case> Probing() {
  return {
      {"readiness comes and goes",
       BoundPod({{"readiness", "10s:false,25s:true"}}),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Running SICR web=ready", "10s Running SI-- web=up",
        "25s Running SICR web=ready"}},
      {"readiness does not come before the ready delay",
       BoundPod({{"readiness", "0s:false,5s:true"}, {"ready-delay", "8s"}}),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Running SI-- web=up", "8s Running SICR web=ready"}},
      {"a failed liveness probe restarts the container each time",
       BoundPod({{"liveness", "40s:false"}}),
       LiveUntil(90s),
       {"0s Pending -I-- web=creating", "0s Running SICR web=ready", "40s Running SI-- web=exit0",
        "40s Running SICR web=ready#1", "1m20s Running SI-- web=exit0#1",
        "1m20s Running SI-- web=loop(10s)#1", "1m30s Running SICR web=ready#2"}},
      {"a failed liveness probe leaves time to stop, but not forever",
       BoundPod({{"liveness", "40s:false"}, {"ignore-sigterm", "true"}, {"run-for", "forever"}}, kNever),
       LiveUntil(1h),
       {"0s Pending -I-- web=creating", "0s Running SICR web=ready", "1m10s Failed -I-- web=exit137"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Starting, Script, ::testing::ValuesIn(Starting()), TestName);
INSTANTIATE_TEST_SUITE_P(Ending, Script, ::testing::ValuesIn(Ending()), TestName);
INSTANTIATE_TEST_SUITE_P(Probing, Script, ::testing::ValuesIn(Probing()), TestName);

}  // namespace

TEST_P(Script, GivesExactlyTheseStates) {
  const Case& script = GetParam();
  LifePlayer player(script.pod);
  script.play(player);
  EXPECT_EQ(player.lines(), script.lines);
}

}  // namespace terrarium::kubelet_fake::testing
