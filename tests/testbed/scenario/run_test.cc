#include "testbed/scenario/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/write_request.h"
#include "apiserver/in_process_client.h"
#include "testbed/invariants/monitor.h"
#include "testbed/scenario/reader.h"

namespace terrarium::testbed::scenario {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Three pods that take five seconds to become ready.
constexpr const char* kWeb = R"(
  - name: web comes up
    apply:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 3
        selector: {matchLabels: {app: web}}
        template:
          metadata:
            labels: {app: web}
            annotations: {terrarium.dev/ready-delay: 5s}
          spec: {containers: [{name: web, image: "web:1"}]}
)";

Scenario Read(const std::string& text) {
  ReadScenarios read = ReadScenarioText("f.yaml", text);
  for (const FileMistake& mistake : read.mistakes) ADD_FAILURE() << mistake.String();
  return read.scenarios.empty() ? Scenario{} : read.scenarios.front();
}

std::string Steps(const std::string& steps) { return std::string("scenario: x\nsteps:") + kWeb + steps; }

RunReport RunScenario(const Scenario& scenario, std::uint64_t seed = 1, bool interrupt = false) {
  const std::atomic<bool> interrupted = interrupt;
  return Run(scenario, seed, interrupted).Execute();
}

// The message of the failure; empty if the scenario passes.
std::string FailureOf(const std::string& text) {
  const Scenario scenario = Read(text);
  RunReport report = RunScenario(scenario);
  EXPECT_EQ(report.result == RunReport::Result::kFailed, report.failure.has_value());
  return report.failure ? Describe(scenario, *report.failure) : "";
}

TEST(ScenarioRun, ExpectComparesTheCurrentStateAndReportsDifferences) {
  EXPECT_THAT(
      FailureOf(Steps(
          "  - runUntilIdle: 1m\n  - expect: deployment/web\n    match: {status: {readyReplicas: 3}}\n")),
      IsEmpty());
  const std::string failure =
      FailureOf(Steps("  - advance: 1s\n  - name: all ready\n    expect: deployment/web\n"
                      "    match: {spec: {replicas: 3}, status: {readyReplicas: 3}}\n"));
  EXPECT_THAT(failure, HasSubstr("f.yaml:17:5: step 3, all ready\n"));
  EXPECT_THAT(failure, HasSubstr("  deployment default/web does not match\n    status.readyReplicas\n"
                                 "      - expected 3\n      + got      (absent)\n"));
  EXPECT_THAT(failure, HasSubstr("at 2026-01-01T00:00:01.000000Z (1s after the start), revision "));
}

TEST(ScenarioRun, AFailedExpectationNamesTheControllerThatDoesNotRun) {
  EXPECT_THAT(
      FailureOf(std::string("scenario: x\noptions: {controllers: ['*', -deployment-controller]}\nsteps:") +
                kWeb +
                "  - expect: deployment/web\n    match: {status: {readyReplicas: 3}}\n    eventually: 1m\n"),
      HasSubstr(
          "; nothing acts on deployments here: deployment-controller was not selected by --controllers"));
}

TEST(ScenarioRun, EventuallyRunsTheClockUntilItHoldsAndNoFurther) {
  const std::string wait =
      "  - expect: deployment/web\n    match: {status: {readyReplicas: 3}}\n    eventually: ";
  RunReport report = RunScenario(Read(Steps(wait + "1m\n")));
  EXPECT_EQ(report.result, RunReport::Result::kPassed);
  EXPECT_EQ(report.virtual_time, 5s);
  EXPECT_THAT(FailureOf(Steps(wait + "4s\n")),
              HasSubstr("deployment default/web does not match, for all of 4s"));
}

// A status is stale until its controller has synced.
TEST(ScenarioRun, EventuallyIgnoresAStatusThatIsNotCurrent) {
  RunReport report = RunScenario(Read(Steps(R"(
  - runUntilIdle: 1m
  - scale: deployment/web
    replicas: 4
  - expect: deployment/web
    match: {status: {unavailableReplicas: null}}
    eventually: 1m
)")));
  EXPECT_EQ(report.result, RunReport::Result::kPassed);
  EXPECT_EQ(report.virtual_time, 10s);
}

TEST(ScenarioRun, EventuallySeesAStateThatLastedForOneRevision) {
  EXPECT_THAT(FailureOf(Steps(
                  "  - expect: deployment/web\n"
                  "    match: {status: {conditions: [{type: Progressing, reason: NewReplicaSetCreated}]}}\n"
                  "    eventually: 1m\n")),
              IsEmpty());
}

TEST(ScenarioRun, AlwaysAndNeverCheckEveryRevisionOfASpan) {
  const std::string never =
      "  - expect: deployment/web\n    match: {status: {readyReplicas: 3}}\n    never: ";
  EXPECT_THAT(FailureOf(Steps(never + "4s\n")), IsEmpty());
  EXPECT_THAT(FailureOf(Steps(never + "1m\n")),
              HasSubstr("as they must never be (default/web), 5s into 1m0s"));
  const std::string always =
      "  - expect: pods\n    selector: app=web\n    count: {atMost: 2}\n    always: 1m\n";
  EXPECT_THAT(FailureOf(Steps(always)),
              HasSubstr("pods with app=web: expected at most 2, got 3 (default/web-"));
}

TEST(ScenarioRun, AlwaysToTheEndStandsWhileOtherStepsGoOn) {
  const std::string guard =
      "  - name: at most three\n    expect: pods\n    selector: app=web\n    count: {atMost: 3}\n"
      "    always: end\n  - runUntilIdle: 1m\n";
  EXPECT_THAT(FailureOf(Steps(guard)), IsEmpty());
  const std::string failure =
      FailureOf(Steps(guard + "  - scale: deployment/web\n    replicas: 5\n  - runUntilIdle: 1m\n"));
  EXPECT_THAT(failure, StartsWith("  f.yaml:16:5: step 2, at most three\n"));
  EXPECT_THAT(failure, HasSubstr("expected at most 3, got 4"));
  EXPECT_THAT(failure, HasSubstr("scale deployment/web")) << "the steps are in the timeline";
  EXPECT_THAT(failure, HasSubstr("spec.replicas 3 -> 5"));
  EXPECT_THAT(failure, HasSubstr("why scale"));
}

TEST(ScenarioRun, MissingObjectsCountAsZero) {
  EXPECT_THAT(
      FailureOf(Steps("  - expect: pod/other\n    absent: true\n  - expect: pods\n    selector: app=other\n"
                      "    count: 0\n")),
      IsEmpty());
  EXPECT_THAT(FailureOf(Steps("  - expect: deployment/web\n    absent: true\n")),
              HasSubstr("expected none, and it is there"));
  EXPECT_THAT(FailureOf(Steps("  - expect: pod/other\n")), HasSubstr("pod default/other: not there"));
  EXPECT_THAT(FailureOf(Steps("  - delete: pods\n    selector: app=other\n")),
              HasSubstr("there are no pods with app=other"));
}

TEST(ScenarioRun, AWriteThatIsRefusedFailsTheStepUnlessThatIsExpected) {
  const std::string scale = "  - scale: deployment/web\n    replicas: -1\n";
  EXPECT_THAT(FailureOf(Steps(scale)), HasSubstr("refused: 422 Invalid: "));
  EXPECT_THAT(
      FailureOf(Steps(
          scale + "    refused: {code: 422, reason: Invalid, message: '*greater than or equal to 0*'}\n")),
      IsEmpty());
  EXPECT_THAT(
      FailureOf(Steps(scale + "    refused: {code: 409}\n")),
      HasSubstr("refused, but not as expected\n    code\n      - expected 409\n      + got      422\n"));
  EXPECT_THAT(FailureOf(Steps("  - scale: deployment/web\n    replicas: 1\n    refused: {code: 422}\n")),
              HasSubstr("expected to be refused with {\"code\":422}, but it was done"));
}

TEST(ScenarioRun, HeldPodsWaitAndAreReleased) {
  EXPECT_THAT(FailureOf(Steps(R"(
  - runUntilIdle: 1m
  - hold: pods
    selector: app=web
    at: terminating
  - delete: pods
    selector: app=web
    first: 2
  - advance: 10m
  - expect: pods
    selector: app=web
    where: {metadata: {deletionTimestamp: {present: true}}}
    count: 2
  - release: pods
    selector: app=web
    where: {metadata: {deletionTimestamp: {present: true}}}
    first: 1
  - advance: 0s
  - expect: pods
    selector: app=web
    where: {metadata: {deletionTimestamp: {present: true}}}
    count: 1
)")),
              IsEmpty());
}

TEST(ScenarioRun, EventsAreCountedByHowOftenTheyWereReported) {
  const std::string start = "  - runUntilIdle: 1m\n";
  EXPECT_THAT(
      FailureOf(Steps(start +
                      "  - expectEvents: pod/web-*\n    reason: Started\n    count: 3\n"
                      "  - expectEvents: deployment/web\n    reason: ScalingReplicaSet\n"
                      "    message: Scaled up replica set web-* from 0 to 3\n    type: Normal\n    count: 1\n"
                      "  - expectEvents: pods\n    type: Warning\n    count: 0\n")),
      IsEmpty());
  EXPECT_THAT(FailureOf(Steps(start + "  - expectEvents: pods\n    reason: Started\n    count: 4\n")),
              HasSubstr("events about Pod * with reason Started: expected 4, got 3"));
  EXPECT_THAT(FailureOf(Steps("  - expectEvents: pods\n    reason: Started\n    never: 1m\n")),
              HasSubstr("there must never be any"));
}

TEST(ScenarioRun, MetricsAreComparedWithAValueOrWithAnEarlierStep) {
  const std::string grown = R"(
  - runUntilIdle: 1m
  - name: before
    advance: 0s
  - scale: deployment/web
    replicas: 5
  - expectMetric: kube_deployment_status_replicas_ready
    labels: {deployment: web}
    value: 5
    eventually: 1m
  - expectMetric: kube_deployment_status_replicas_ready
    since: before
    increase: )";
  EXPECT_THAT(FailureOf(Steps(grown + "2\n")), IsEmpty());
  EXPECT_THAT(FailureOf(Steps(grown + "{atLeast: 3}\n")),
              HasSubstr("kube_deployment_status_replicas_ready: expected to grow by at least 3 since "
                        "\"before\", it grew by 2"));
  EXPECT_THAT(
      FailureOf(Steps(
          "  - advance: 0s\n  - expectMetric: kube_deployment_spec_replicas\n    labels: {deployment: x}\n")),
      HasSubstr("expected a value, got no such series; there are kube_deployment_spec_replicas{"));
  EXPECT_THAT(FailureOf(Steps("  - expectMetric: kube_deployment_status_replicas_ready\n    value: {atLeast: "
                              "1}\n    never: 1m\n")),
              HasSubstr("must never be at least 1, got 3, 5s into 1m0s"));
}

TEST(ScenarioRun, RunUntilUsesTheSyntaxOfKubectlWait) {
  RunReport report = RunScenario(Read(
      Steps("  - runUntil: deployment/web\n    for: condition=Available\n    within: 1m\n"
            "  - runUntil: deployment/web\n    for: jsonpath={.status.readyReplicas}=3\n    within: 1m\n")));
  EXPECT_EQ(report.result, RunReport::Result::kPassed);
  EXPECT_EQ(report.virtual_time, 5s);
  EXPECT_THAT(FailureOf(Steps("  - runUntil: deployment/web\n    for: delete\n    within: 1m\n")),
              HasSubstr("deployment default/web: delete did not hold within 1m0s"));
}

TEST(ScenarioRun, RunUntilIdleFailsWhenSomethingIsLeftToDo) {
  EXPECT_THAT(FailureOf(Steps("  - runUntilIdle: 2s\n")),
              HasSubstr("after 2s the cluster still has something to do"));
  RunReport report = RunScenario(Read(Steps("  - runUntilIdle: 1h\n")));
  EXPECT_EQ(report.virtual_time, 5s);
}

TEST(ScenarioRun, ApplyTakesAwayWhatAnEarlierApplyHadSet) {
  EXPECT_THAT(FailureOf(R"(
scenario: x
steps:
  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {one: "1", two: "2"}}
  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {two: "3"}}
  - expect: configmap/a
    match: {data: {one: null, two: "3"}}
)"),
              IsEmpty());
}

TEST(ScenarioRun, OptionsShapeTheCluster) {
  EXPECT_THAT(FailureOf(R"(
scenario: x
options:
  nodes: 1
  controllers: ["*", -replicaset-controller]
  startTime: "2030-01-01T00:00:00Z"
  podDefaults: {ready-delay: 7s}
steps:
  - expect: nodes
    count: 1
  - expect: node/node-0
    match: {metadata: {creationTimestamp: "2030-01-01T00:00:00Z"}}
  - apply:
      apiVersion: apps/v1
      kind: ReplicaSet
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
  - expect: pods
    count: 0
    always: 1m
  - apply: {apiVersion: v1, kind: Pod, metadata: {name: slow}, spec: {containers: [{name: a, image: a}]}}
  - advance: 6s
  - expect: pod/slow
    match: {status: {conditions: [{type: Ready, status: "False"}]}}
  - advance: 1s
  - expect: pod/slow
    match: {status: {conditions: [{type: Ready, status: "True"}]}}
)"),
              IsEmpty());
}

TEST(ScenarioRun, AComponentMayHaveGatesOfItsOwn) {
  const std::string scenario = R"(
scenario: x
options:
  componentFeatureGates: {COMPONENT: {DeploymentReplicaSetTerminatingReplicas: GATE}}
steps:
  - apply:
      apiVersion: apps/v1
      kind: ReplicaSet
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
  - runUntilIdle: 1m
  - expect: replicaset/web
    match: {status: {readyReplicas: 1, terminatingReplicas: WANTED}}
)";
  auto with = [&scenario](const std::string& component, const std::string& gate, const std::string& wanted) {
    std::string text = scenario;
    text.replace(text.find("COMPONENT"), 9, component);
    text.replace(text.find("GATE}"), 4, gate);
    return text.replace(text.find("WANTED"), 6, wanted);
  };
  for (const char* component : {"apiserver", "controller-manager"}) {
    EXPECT_THAT(FailureOf(with(component, "true", "0")), IsEmpty());
    EXPECT_THAT(FailureOf(with(component, "false", "null")), IsEmpty());
  }
}

TEST(ScenarioRun, ComponentsStopCrashAndTakeOtherGates) {
  EXPECT_THAT(FailureOf(Steps(R"(
  - runUntilIdle: 1m
  - crashComponent: controller-manager
  - crashComponent: controller-manager
    refused: {code: 409}
  - scale: deployment/web
    replicas: 5
  - advance: 1h
  - expect: pods
    count: 3
  - startComponent: controller-manager
  - expect: pods
    count: 5
    eventually: 1m
  - stopComponent: apiserver
  - scale: deployment/web
    replicas: 1
    refused: {code: 503}
  - startComponent: apiserver
  - restartComponent: scheduler
  - setGates: {PodDeletionCost: false}
    components: [controller-manager]
  - advance: 0s
  - expect: pods
    count: 5
    always: 1m
  - setGates: {DeploymentPodReplacementPolicy: true, DeploymentReplicaSetTerminatingReplicas: false}
    refused: {code: 400, message: "*depends on features that are disabled*"}
)")),
              IsEmpty());
}

// A missing component is skipped, unless it is named.
TEST(ScenarioRun, GatesOfAComponentThatIsNotThere) {
  const std::string steps =
      "scenario: x\noptions: {kubelet: false}\nsteps:\n  - setGates: {PodDeletionCost: false}\n";
  EXPECT_THAT(FailureOf(steps), IsEmpty());
  EXPECT_THAT(FailureOf(steps + "    components: [kubelet]\n"), HasSubstr("refused: 404"));
}

// Acts as a controller that writes the same twice.
StepOutcome WriteTwice(Run& run, const Json&) {
  Testbed& bed = run.bed();
  auto client = bed.monitor().Watched(
      apiserver::MakeInProcessClient(bed.control_plane().env(), bed.control_plane().handler(),
                                     bed.control_plane().store(), {}),
      "controller-manager");
  for (int i = 0; i < 2; ++i) {
    client->Send(api::RequestToPatch("configmaps", {"default", "c"}, {{"data", {{"k", "v"}}}}, ""),
                 [](api::Client::Written) {});
    bed.clock().Settle();
  }
  return StepOutcome::Fine();
}

TEST(ScenarioRun, AnInvariantOfTheClusterThatIsBrokenFailsTheScenarioAndNotTheProcess) {
  Scenario scenario = Read(
      "scenario: x\nsteps:\n"
      "  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n  - advance: 1s\n");
  StepDef meddle = *scenario.steps[1].def;
  meddle.run = WriteTwice;
  scenario.steps[1].def = &meddle;
  RunReport report = RunScenario(scenario);
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->step, 2u);
  EXPECT_THAT(report.failure->mismatch.text, StartsWith("invariant broken: unchanged-write"));
  EXPECT_GT(report.failure->revision, 0);
}

TEST(ScenarioRun, OneSeedOneHistory) {
  const Scenario scenario = Read(Steps("  - runUntilIdle: 1m\n  - expect: pods\n    count: 99\n"));
  const std::string first = Describe(scenario, *RunScenario(scenario).failure);
  EXPECT_EQ(first, Describe(scenario, *RunScenario(scenario).failure));
  EXPECT_NE(first, Describe(scenario, *RunScenario(scenario, 2).failure)) << "names differ by seed";
}

TEST(ScenarioRun, AnInterruptEndsTheRunInTheMiddleOfAStep) {
  const Scenario scenario = Read(Steps("  - advance: 1000h\n"));
  RunReport report = RunScenario(scenario, 1, /*interrupt=*/true);
  EXPECT_EQ(report.result, RunReport::Result::kInterrupted);
  EXPECT_FALSE(report.failure.has_value());
}

}  // namespace
}  // namespace terrarium::testbed::scenario
