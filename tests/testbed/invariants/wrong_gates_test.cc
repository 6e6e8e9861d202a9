// The monitor detects controllers that run with other gates than it assumes, in a real rollout and in a real
// Job.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "api/write_request.h"
#include "testbed/control_plane/components.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/invariants/monitor.h"
#include "testbed/runtime/simulation.h"

namespace terrarium::testbed::invariants {
namespace {

using namespace std::chrono_literals;
using api::Json;
using testing::Contains;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kOn = "DeploymentPodReplacementPolicy=true";

api::FeatureGates Gates(const std::string& text) { return *api::FeatureGates().With(text); }

Json Deployment(const std::string& image) {
  Json labels = {{"app", "web"}};
  Json pods = {{"metadata", {{"labels", labels}, {"annotations", {{"terrarium.dev/stop-after", "20s"}}}}},
               {"spec", {{"containers", {{{"name", "c"}, {"image", image}}}}}}};
  return {{"metadata", {{"name", "web"}, {"namespace", "default"}}},
          {"spec",
           {{"replicas", 4},
            {"selector", {{"matchLabels", labels}}},
            {"podReplacementPolicy", "TerminationComplete"},
            {"template", pods}}}};
}

// Each is created when the work of the previous one is done.
using Writes = std::vector<std::function<api::WriteRequest(storage::Store&)>>;

// A rollout.
const Writes kRollout = {
    [](storage::Store&) { return api::RequestToCreate("deployments", "default", Deployment("i:1")); },
    [](storage::Store&) { return api::RequestToUpdate("deployments", Deployment("i:2"), ""); }};

// An indexed Job that waits for its pods, one of which is deleted and stays terminating.
const Writes kPodDeletion = {
    [](storage::Store&) {
      Json pods = {{"metadata", {{"annotations", {{"terrarium.dev/hold", "terminating"}}}}},
                   {"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
      Json spec = {{"completions", 2},
                   {"parallelism", 2},
                   {"completionMode", "Indexed"},
                   {"podReplacementPolicy", "Failed"},
                   {"template", pods}};
      return api::RequestToCreate("jobs", "default", {{"metadata", {{"name", "j"}}}, {"spec", spec}});
    },
    [](storage::Store& store) {
      storage::ListQuery query;
      query.resource = "pods";
      const api::ObjectPtr pod = store.List(query)->items.at(0);
      return api::RequestToDelete("pods", {"default", pod->header().name}, {});
    }};

// The rules that controllers with those gates break, under a monitor that assumes the gates of the apiserver.
std::set<std::string> RulesBrokenWith(const std::string& controller_gates, const Writes& writes = kRollout) {
  spdlog::logger log("terrarium", std::make_shared<spdlog::sinks::null_sink_mt>());
  std::set<std::string> broken;
  Simulation simulation(api::Time(1'767'225'600s), 1);
  auto monitor = std::make_unique<Monitor>(MonitorOptions{
      .controllers = {"deployment-controller", "replicaset-controller", "job-controller"},
      .conduct = {true, Gates(kOn), Gates(kOn)},
      .on_violation = [&broken](const Violation& violation) { broken.insert(violation.rule); }});
  ControlPlaneOptions options;
  options.gates = Gates(kOn);
  ComponentOptions components;
  components.nodes.nodes = 1;
  components.pods.defaults.all.run_for = api::kForever;
  components.controller_manager_gates = Gates(controller_gates);
  components.wrap_client = [&monitor](std::unique_ptr<api::Client> client, const std::string& component) {
    return monitor->Watched(std::move(client), component);
  };
  auto control_plane = ControlPlane::Make(simulation.runtime(), log, std::move(options), components);
  CHECK(control_plane.ok());
  monitor->Follow((*control_plane)->store(), simulation.runtime());
  for (const auto& next : writes) {
    (*control_plane)->handler().Write(next((*control_plane)->store()), {}, [](api::Client::Written written) {
      CHECK(written.ok());
    });
    simulation.clock().RunUntilIdle(10min);
    monitor->Idle();
  }
  simulation.runtime().Shutdown();
  monitor = nullptr;  // before the store that it watches
  return broken;
}

TEST(WrongGates, ControllersWithTheExpectedGatesBreakNothing) {
  EXPECT_THAT(RulesBrokenWith(kOn), IsEmpty());
  EXPECT_THAT(RulesBrokenWith(kOn, kPodDeletion), IsEmpty());
}

TEST(WrongGates, ControllersThatDoNotWaitForTerminationGoBeyondTheBound) {
  EXPECT_THAT(RulesBrokenWith("DeploymentPodReplacementPolicy=false"), Contains("deployment-bound"));
}

TEST(WrongGates, ControllersThatDoNotReportTerminatingPodsWriteAWrongStatus) {
  std::set<std::string> broken = RulesBrokenWith("DeploymentReplicaSetTerminatingReplicas=false");
  EXPECT_THAT(broken, Contains("replica-status"));
}

TEST(WrongGates, AJobControllerThatDoesNotWaitRunsAnIndexTwiceAndDoesNotReportTerminatingPods) {
  EXPECT_THAT(RulesBrokenWith("JobPodReplacementPolicy=false", kPodDeletion),
              UnorderedElementsAre("job-pods", "job-counts"));
}

}  // namespace
}  // namespace terrarium::testbed::invariants
