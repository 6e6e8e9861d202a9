// The expected states of each script: init containers, sidecars and the termination of pods.

#include "tests/kubelet-fake/kubelet/script_case.h"

namespace terrarium::kubelet_fake::testing {
namespace {

std::vector<Case> Initializing() {
  const Json two = {{"initContainers", Json::array({MakeContainer("a"), MakeContainer("b")})}};
  const Json sidecar = {{"initContainers", Json::array({Sidecar("proxy")})}};
  const Json slow_sidecar =
      MakeContainer("proxy", {{"restartPolicy", "Always"}, {"startupProbe", {{"initialDelaySeconds", 4}}}});
  return {
      {"init containers run one after the other",
       BoundPod({{"run-for.a", "2s"}, {"run-for.b", "3s"}}, two),
       LiveUntil(1h),
       {"0s Pending ---- a=init b=init web=init", "0s Pending S--- a=up b=init web=init",
        "2s Pending S--- a=exit0 b=up web=init", "5s Running SICR a=exit0 b=exit0 web=ready"}},
      {"init containers that take no time",
       BoundPod(kNothing, two),
       LiveUntil(1h),
       {"0s Pending ---- a=init b=init web=init", "0s Pending S--- a=up b=init web=init",
        "0s Pending S--- a=exit0 b=up web=init", "0s Running SICR a=exit0 b=exit0 web=ready"}},
      {"a failed init container fails a pod that does not restart",
       BoundPod({{"exit-code.a", "1"}}, With(kNever, two)),
       LiveUntil(1h),
       {"0s Pending ---- a=init b=init web=init", "0s Pending S--- a=up b=init web=init",
        "0s Failed ---- a=exit1 b=init web=init"}},
      {"a failed init container is tried again",
       BoundPod({{"exit-code.a", "1"}, {"run-for.a", "1s"}}, two),
       LiveUntil(3s),
       {"0s Pending ---- a=init b=init web=init", "0s Pending S--- a=up b=init web=init",
        "1s Pending S--- a=exit1 b=init web=init", "1s Pending S--- a=up#1 b=init web=init",
        "2s Pending S--- a=exit1#1 b=init web=init", "2s Pending S--- a=loop(10s)#1 b=init web=init"}},
      {"a sidecar starts first and stops last, without keeping the pod",
       BoundPod({{"run-for", "5s"}, {"stop-after.proxy", "2s"}}, With(kNever, sidecar)),
       LiveUntil(1h),
       {"0s Pending ---- proxy=init web=init", "0s Running SICR proxy=ready web=ready",
        "5s Running SI-- proxy=ready web=exit0", "7s Succeeded -I-- proxy=exit0 web=exit0"}},
      {"a sidecar that ends is restarted",
       BoundPod({{"run-for.proxy", "3s"}}, sidecar),
       LiveUntil(4s),
       {"0s Pending ---- proxy=init web=init", "0s Running SICR proxy=ready web=ready",
        "3s Running SI-- proxy=exit0 web=ready", "3s Running SICR proxy=ready#1 web=ready"}},
      {"a sidecar that fails its liveness probe does not wait for the others",
       BoundPod({{"liveness.proxy", "3s:false"}, {"stop-after.proxy", "1s"}}, sidecar),
       LiveUntil(4s),
       {"0s Pending ---- proxy=init web=init", "0s Running SICR proxy=ready web=ready",
        "4s Running SI-- proxy=exit0 web=ready", "4s Running SICR proxy=ready#1 web=ready"}},
      {"a sidecar with a startup probe holds the others up",
       BoundPod({}, {{"initContainers", Json::array({slow_sidecar})}}),
       LiveUntil(1h),
       {"0s Pending ---- proxy=init web=init", "0s Pending S--- proxy=up web=init",
        "4s Pending SI-- proxy=ready web=init", "4s Running SICR proxy=ready web=ready"}},
      {"deleted with a sidecar that is slow to stop after a container that is",
       BoundPod({{"stop-after.web", "3s"}, {"stop-after.proxy", "4s"}}, sidecar),
       DeleteAt(1min, 30, 1h),
       {"0s Pending ---- proxy=init web=init", "0s Running SICR proxy=ready web=ready",
        "1m0s Running SICR proxy=ready web=ready", "1m7s Succeeded -I-- proxy=exit0 web=exit0",
        "1m7s removed"}},
      {"deleted while an init container runs",
       BoundPod({{"run-for.a", "1h"}}, two),
       DeleteAt(1min, 30, 1h),
       {"0s Pending ---- a=init b=init web=init", "0s Pending S--- a=up b=init web=init",
        "1m0s Failed ---- a=exit0 b=init web=init", "1m0s removed"}},
  };
}

std::vector<Case> Terminating() {
  const std::string created = "0s Pending -I-- web=creating";
  const std::string running = "0s Running SICR web=ready";
  const std::string going = "1m0s Running SICR web=ready";  // the generation of the deletion is observed
  return {
      {"takes its time to stop",
       BoundPod({{"stop-after", "10s"}}),
       DeleteAt(1min, 30, 1h),
       {created, running, going, "1m10s Succeeded -I-- web=exit0", "1m10s removed"}},
      {"stops with a code of its own",
       BoundPod({{"stop-exit-code", "143"}}),
       DeleteAt(1min, 30, 1h),
       {created, running, "1m0s Failed -I-- web=exit143", "1m0s removed"}},
      {"too slow to stop",
       BoundPod({{"stop-after", "45s"}}),
       DeleteAt(1min, 30, 1h),
       {created, running, going, "1m30s Failed -I-- web=exit137", "1m30s removed"}},
      {"ignores SIGTERM for half an hour",
       BoundPod({{"ignore-sigterm", "true"}}),
       DeleteAt(1min, 1800, 1h),
       {created, running, going, "31m0s Failed -I-- web=exit137", "31m0s removed"}},
      {"hangs forever", BoundPod({{"hang", "true"}}), DeleteAt(1min, 30, 24h), {created, running, going}},
      {"hangs until it is released",
       BoundPod({{"hang", "true"}}),
       [](LifePlayer& pod) {
         pod.Until(1min);
         pod.Delete(30);
         pod.Until(1h);
         pod.Direct([](PodDirections& d) { d.let_go = true; });
         pod.Until(2h);
       },
       {created, running, going, "1h0m0s Succeeded -I-- web=exit0", "1h0m0s removed"}},
      {"held in terminating and released with an outcome",
       BoundPod({{"hold", "terminating"}}),
       [](LifePlayer& pod) {
         pod.Until(1min);
         pod.Delete(30);
         pod.Until(1h);
         pod.Direct([](PodDirections& d) {
           d.let_go = true;
           d.stop_exit_code = 9;
         });
         pod.Until(2h);
       },
       {created, running, going, "1h0m0s Failed -I-- web=exit9", "1h0m0s removed"}},
      {"held in terminating past its own end",
       BoundPod({{"hold", "terminating"}, {"run-for", "2m"}, {"exit-code", "6"}, {"stop-after", "5m"}}),
       [](LifePlayer& pod) {
         pod.Until(1min);
         pod.Delete(600);
         pod.Until(1h);
         pod.Direct([](PodDirections& d) { d.let_go = true; });
         pod.Until(2h);
       },
       {created, running, going, "1h0m0s Failed -I-- web=exit6", "1h0m0s removed"}},
      {"a shorter second deletion",
       BoundPod({{"ignore-sigterm", "true"}}),
       [](LifePlayer& pod) {
         pod.Until(1min);
         pod.Delete(1800);
         pod.Until(2min);
         pod.Delete(10);
         pod.Until(1h);
       },
       {created, running, going, "2m10s Failed -I-- web=exit137", "2m10s removed"}},
      {"a preStop sleep comes before SIGTERM",
       BoundPod(
           {{"stop-after", "1s"}},
           Containers({MakeContainer("web", {{"lifecycle", {{"preStop", {{"sleep", {{"seconds", 5}}}}}}}})})),
       DeleteAt(1min, 30, 1h),
       {created, running, going, "1m6s Succeeded -I-- web=exit0", "1m6s removed"}},
      {"a preStop sleep that takes all of the grace leaves two seconds",
       BoundPod({{"stop-after", "5s"}},
                Containers(
                    {MakeContainer("web", {{"lifecycle", {{"preStop", {{"sleep", {{"seconds", 20}}}}}}}})})),
       DeleteAt(1min, 10, 1h),
       {created, running, going, "1m12s Failed -I-- web=exit137", "1m12s removed"}},
      {"deleted before it has started",
       BoundPod({{"start-delay", "1h"}}),
       DeleteAt(1min, 30, 2h),
       {created, "0s Pending SI-- web=creating", "1m0s Failed -I-- web=exit137", "1m0s removed"}},
      {"deleted before the kubelet saw it",
       BoundPod(),
       [](LifePlayer& pod) {
         pod.Delete(30);
         pod.Until(1h);
       },
       {"0s Failed -I-- web=exit137", "0s removed"}},
      {"deleted in a crash loop",
       BoundPod({{"run-for", "1s"}, {"exit-code", "5"}}),
       DeleteAt(5s, 30, 1h),
       {created, running, "1s Running SI-- web=exit5", "1s Running SICR web=ready#1",
        "2s Running SI-- web=exit5#1", "2s Running SI-- web=loop(10s)#1", "5s Failed -I-- web=exit5#1",
        "5s removed"}},
      {"ends by itself while it is being stopped",
       BoundPod({{"run-for", "65s"}, {"exit-code", "4"}, {"stop-after", "20s"}}),
       DeleteAt(1min, 30, 1h),
       {created, running, going, "1m5s Failed -I-- web=exit4", "1m5s removed"}},
      {"with both gates off the phase stays what it was",
       BoundPod(),
       [](LifePlayer& pod) {
         pod.SetGates({.terminal_phase_before_removal = false, .disruption_conditions = false});
         pod.Until(1min);
         pod.Delete(30);
         pod.Until(1h);
       },
       {created, running, "1m0s Running -I-- web=exit0", "1m0s removed"}},
      {"with both gates off a pod that does not restart still succeeds",
       BoundPod({{"run-for", "forever"}}, kNever),
       [](LifePlayer& pod) {
         pod.SetGates({.terminal_phase_before_removal = false, .disruption_conditions = false});
         pod.Until(1min);
         pod.Delete(30);
         pod.Until(1h);
       },
       {created, running, "1m0s Succeeded -I-- web=exit0", "1m0s removed"}},
      {"a script that changes counts where it still matters",
       BoundPod(),
       [](LifePlayer& pod) {
         pod.Until(30s);
         pod.SetScript({{"run-for", "45s"}, {"start-delay", "1h"}});
         pod.Until(50s);
       },
       {created, running, "45s Running SI-- web=exit0", "45s Running SICR web=ready#1"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Initializing, Script, ::testing::ValuesIn(Initializing()), TestName);
INSTANTIATE_TEST_SUITE_P(Terminating, Script, ::testing::ValuesIn(Terminating()), TestName);

}  // namespace
}  // namespace terrarium::kubelet_fake::testing
