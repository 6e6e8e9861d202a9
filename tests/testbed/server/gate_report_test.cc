// Gates that are switched off and on again, and the reports about their fields.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/gate_log.h"
#include "testbed/server/control_api.h"
#include "tests/testbed/control_plane/component_testing.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class GateReport : public testing::Test {
 protected:
  void Set(const std::string& component, bool on) {
    Testbed::Must(bed.SetGates(component, {{"DeploymentPodReplacementPolicy", on},
                                           {"DeploymentReplicaSetTerminatingReplicas", on}}));
    bed.clock().RunUntilIdle(10min);
  }
  void Rollout() {
    Json deployment = TestDeployment(2, "i:1");
    deployment["spec"]["podReplacementPolicy"] = "TerminationComplete";
    Testbed::Must(bed.Create("deployments", "default", deployment));
    bed.clock().RunUntilIdle(10min);
  }
  std::vector<std::string> Reported(const std::string& resource, const std::string& name) {
    std::vector<std::string> out;
    for (const apiserver::GateRecord& record :
         bed.gate_log().Fields({.resource = resource, .object = {"default", name}}))
      out.push_back(record.what + " " + record.field + " by " + record.writer);
    return out;
  }
  std::string Metrics() {
    apiserver::Request request;
    request.method = "GET";
    request.path = "/metrics";
    return bed.Serve(request).body;
  }

  Testbed bed{{.feature_gates = kPolicyGates}};
};

TEST_F(GateReport, NothingIsReportedWhileGatesAreOn) {
  Rollout();
  EXPECT_THAT(bed.gate_log().Fields(), IsEmpty());
  EXPECT_THAT(bed.gate_log().Changes(), IsEmpty());
}

TEST_F(GateReport, TheControllerManagersGatesAloneChangeTheStatus) {
  Rollout();
  Set("controller-manager", false);
  Set("controller-manager", true);
  EXPECT_THAT(Reported("deployments", "web"),
              ElementsAre("vanished status.terminatingReplicas by controller-manager",
                          "came-back status.terminatingReplicas by controller-manager"));
  ASSERT_EQ(bed.gate_log().Changes().size(), 2u);
  EXPECT_EQ(bed.gate_log().Changes()[0].component, "controller-manager");
  const auto fields = bed.gate_log().Fields({.resource = "deployments", .object = {"default", "web"}});
  EXPECT_GT(fields[0].revision, bed.gate_log().Changes()[0].revision);
  EXPECT_LE(fields[0].revision, bed.gate_log().Changes()[1].revision);
  EXPECT_EQ(fields[1].revision, bed.Get("deployments", "default", "web")->revision());
}

TEST_F(GateReport, TheApiserverKeepsWhatIsStoredAndDropsWhatIsNew) {
  Rollout();
  Set("apiserver", false);
  Testbed::Must(bed.Patch("deployments", {"default", "web"}, {{"spec", {{"replicas", 3}}}}));
  bed.clock().RunUntilIdle(10min);
  EXPECT_THAT(Reported("deployments", "web"),
              ElementsAre("kept spec.podReplacementPolicy by system:admin",
                          "kept status.terminatingReplicas by controller-manager"));
  Json other = TestDeployment(1, "i:1");
  other["metadata"]["name"] = "other";
  other["spec"]["selector"]["matchLabels"]["app"] = other["spec"]["template"]["metadata"]["labels"]["app"] =
      "other";
  other["spec"]["podReplacementPolicy"] = "TerminationStarted";
  Testbed::Must(bed.Create("deployments", "default", other));
  bed.clock().RunUntilIdle(10min);
  EXPECT_THAT(Reported("deployments", "other"),
              ElementsAre("dropped spec.podReplacementPolicy by system:admin",
                          "dropped status.terminatingReplicas by controller-manager"));
}

TEST_F(GateReport, TheTerminatingCountOfAJobIsReported) {
  Testbed::Must(bed.Create("jobs", "default", TestJob(2, 2)));
  bed.clock().Advance(2s);
  Testbed::Must(bed.SetGates("controller-manager", {{"JobPodReplacementPolicy", false}}));
  bed.clock().Advance(2s);
  Testbed::Must(bed.SetGates("controller-manager", {{"JobPodReplacementPolicy", true}}));
  bed.clock().RunUntilIdle(10min);
  EXPECT_THAT(Reported("jobs", "sum"), ElementsAre("vanished status.terminating by controller-manager",
                                                   "came-back status.terminating by controller-manager"));
}

TEST_F(GateReport, RefusedRequestsAndDryRunsAreNotReported) {
  Set("apiserver", false);
  Json deployment = TestDeployment(-1, "i:1");
  deployment["spec"]["podReplacementPolicy"] = "TerminationComplete";
  EXPECT_FALSE(bed.Create("deployments", "default", deployment).ok());
  deployment["spec"]["replicas"] = 1;
  apiserver::Request request;
  request.method = "POST";
  request.path = "/apis/apps/v1/namespaces/default/deployments";
  request.query = {{"dryRun", "All"}};
  request.content_type = "application/json";
  deployment["apiVersion"] = "apps/v1";
  deployment["kind"] = "Deployment";
  request.body = deployment.dump();
  EXPECT_EQ(bed.Serve(request).code, 201);
  EXPECT_THAT(bed.gate_log().Fields(), IsEmpty());
}

TEST_F(GateReport, TheEndpointGivesBothListsAndChecksItsParameters) {
  Rollout();
  Set("controller-manager", false);
  ControlApi control(bed.control_plane(),
                     [this](const ControlApi::ClockWork& work, const auto&) { work(bed.clock()); });
  const auto ask = [&](std::vector<std::pair<std::string, std::string>> query) {
    apiserver::Request request;
    request.method = "GET";
    request.path = "/terrarium/v1/gates/report";
    request.query = std::move(query);
    std::pair<int, Json> answer;
    control.Serve(request, [&](apiserver::Response response) {
      answer = {response.code, Json::parse(response.body)};
    });
    return answer;
  };
  auto [code, report] = ask({});
  ASSERT_EQ(code, 200);
  EXPECT_EQ(report["changes"].size(), 1u);
  EXPECT_EQ(report["fields"].size(), 2u);  // of the Deployment and its ReplicaSet
  EXPECT_EQ(ask({{"resource", "deployments"}, {"name", "web"}}).second["fields"].size(), 1u);
  EXPECT_EQ(ask({{"component", "apiserver"}}).second["changes"].size(), 0u);
  EXPECT_EQ(ask({{"gate", "JobSuccessPolicy"}}).second["fields"].size(), 0u);
  EXPECT_EQ(ask({{"name", "web"}}).first, 400);
  EXPECT_EQ(ask({{"component", "etcd"}}).first, 404);
  EXPECT_EQ(ask({{"colour", "red"}}).first, 400);
}

TEST_F(GateReport, MetricsShowTheGatesOfEveryRunningComponent) {
  const auto line = [](const char* component, int value) {
    return std::string("kubernetes_feature_enabled{component=\"") + component +
           "\",name=\"DeploymentPodReplacementPolicy\",stage=\"ALPHA\"} " + std::to_string(value) + "\n";
  };
  for (const char* component : {"apiserver", "controller-manager", "kubelet", "scheduler"})
    EXPECT_THAT(Metrics(), HasSubstr(line(component, 1)));
  Set("controller-manager", false);
  EXPECT_THAT(Metrics(), HasSubstr(line("controller-manager", 0)));
  EXPECT_THAT(Metrics(), HasSubstr(line("apiserver", 1)));
  EXPECT_THAT(Metrics(), HasSubstr("name=\"JobPodReplacementPolicy\",stage=\"\"} 1\n"));
  Testbed::Must(bed.Stop("scheduler"));
  EXPECT_THAT(Metrics(), Not(HasSubstr("{component=\"scheduler\"")));
}

TEST_F(GateReport, CountersBeginAtZeroWithEveryStart) {
  Rollout();
  const std::string line = "workqueue_adds_total{name=\"replicaset\"} ";
  const auto count = [&] {
    const std::string text = Metrics();
    const std::size_t at = text.find(line);
    return at == std::string::npos ? -1 : std::stoi(text.substr(at + line.size()));
  };
  const int before = count();
  EXPECT_GT(before, 1);
  Testbed::Must(bed.Restart("controller-manager"));
  bed.clock().RunUntilIdle(1min);
  EXPECT_LT(count(), before);
  EXPECT_GE(count(), 1);
  Testbed::Must(bed.Stop("controller-manager"));
  EXPECT_EQ(count(), -1);
}

}  // namespace
}  // namespace terrarium::testbed
