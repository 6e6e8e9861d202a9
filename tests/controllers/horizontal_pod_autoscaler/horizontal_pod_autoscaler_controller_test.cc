// HorizontalPodAutoscalers and metrics.k8s.io in a whole cluster.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "apiserver/request.h"
#include "controllers/runtime/why.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using testbed::RunOutcome;
using testbed::Testbed;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

class Autoscaling : public ::testing::Test {
 protected:
  // A Deployment whose pods request 100m and 64Mi, and behave by these annotations.
  void CreateWeb(int replicas, const Json& script) {
    const Json labels = {{"app", "web"}};
    Json container = {{"name", "c"},
                      {"image", "web:1"},
                      {"resources", {{"requests", {{"cpu", "100m"}, {"memory", "64Mi"}}}}}};
    Testbed::Must(bed_.Create("deployments", "default",
                              {{"metadata", {{"name", "web"}}},
                               {"spec",
                                {{"replicas", replicas},
                                 {"selector", {{"matchLabels", labels}}},
                                 {"template",
                                  {{"metadata", {{"labels", labels}, {"annotations", script}}},
                                   {"spec", {{"containers", Json::array({container})}}}}}}}}));
  }
  // Scales by CPU to 50% of the requests, unless `spec` has other values.
  void CreateAutoscaler(const Json& spec = Json::object(), const char* name = "web") {
    Json whole = {{"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "web"}}},
                  {"minReplicas", 1},
                  {"maxReplicas", 10},
                  {"metrics", Json::array({Resource("cpu", {{"averageUtilization", 50}})})}};
    whole.update(spec);
    Testbed::Must(bed_.Create("horizontalpodautoscalers", "default",
                              {{"metadata", {{"name", name}}}, {"spec", whole}}));
  }
  static Json Resource(const char* name, Json target) {
    target["type"] = target.contains("averageUtilization") ? "Utilization" : "AverageValue";
    return {{"type", "Resource"}, {"resource", {{"name", name}, {"target", target}}}};
  }
  Json Status(const char* name = "web") {
    const Json document = bed_.Get("horizontalpodautoscalers", "default", name)->Parse();
    return api::ObjectAt(document, "status");
  }
  std::string Condition(const char* type) {
    const Json document = bed_.Get("horizontalpodautoscalers", "default", "web")->Parse();
    const Json* condition = api::FindCondition(document, type);
    if (condition == nullptr) return "absent";
    return std::string(api::StringAt(*condition, "status")) + " " +
           std::string(api::StringAt(*condition, "reason")) + ": " +
           std::string(api::StringAt(*condition, "message"));
  }
  // "reason: message" of the Events about the autoscaler.
  std::vector<std::string> Events() {
    std::vector<std::string> texts;
    for (const testbed::EventView& event : bed_.Events("HorizontalPodAutoscaler", "web"))
      texts.push_back(event.reason() + ": " + event.message());
    return texts;
  }
  void SetCpu(const char* course) {
    for (const testbed::PodView& pod : bed_.Pods("app=web"))
      Testbed::Must(bed_.Patch("pods", {"default", pod.name()},
                               {{"metadata", {{"annotations", {{"terrarium.dev/cpu", course}}}}}}));
  }
  int Size() { return static_cast<int>(bed_.Deployment("web").document()["spec"]["replicas"]); }
  void Pass(api::Duration duration) { bed_.clock().Advance(duration); }
  void Idle() { ASSERT_EQ(bed_.clock().RunUntilIdle(30min).why, RunOutcome::Why::kIdle); }
  // A GET below /apis/metrics.k8s.io/v1beta1/.
  Json Metrics(const std::string& path, std::vector<std::pair<std::string, std::string>> query = {},
               const char* accept = "application/json") {
    apiserver::Request request;
    request.method = "GET";
    request.path = "/apis/metrics.k8s.io/v1beta1/" + path;
    request.query = std::move(query);
    request.accept = accept;
    return Json::parse(bed_.Serve(std::move(request)).body);
  }

  Testbed bed_{{.nodes = 2}};
};

TEST_F(Autoscaling, ATargetGrowsUntilItsPodsUseWhatTheyShould) {
  CreateWeb(2, {{"terrarium.dev/cpu", "200m"}});
  CreateAutoscaler();
  Pass(14s);
  EXPECT_EQ(Size(), 2);
  EXPECT_EQ(api::IntAt(Status(), 0, "currentReplicas"), 0) << "the first sync is after fifteen seconds";
  Pass(1s);
  EXPECT_EQ(Size(), 4) << "at most twice the size";
  EXPECT_EQ(Condition("AbleToScale"),
            "True SucceededRescale: the HPA controller was able to update the target scale to 4");
  EXPECT_EQ(Condition("ScalingActive"),
            "True ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu "
            "resource utilization (percentage of request)");
  EXPECT_EQ(Condition("ScalingLimited"),
            "True ScaleUpLimit: the desired replica count is increasing faster than the maximum scale rate");
  EXPECT_EQ(Status()["currentMetrics"],
            Json::parse(R"([{"type": "Resource", "resource": {"name": "cpu", "current":
                {"averageUtilization": 200, "averageValue": "200m"}}}])"));
  EXPECT_EQ(Status()["lastScaleTime"], "2026-01-01T00:00:15Z");
  EXPECT_THAT(Events(), ElementsAre("SuccessfulRescale: New size: 4; reason: cpu resource utilization "
                                    "(percentage of request) above target"));
  Pass(30s);
  EXPECT_EQ(Size(), 10);
  EXPECT_EQ(Condition("ScalingLimited"),
            "True TooManyReplicas: the desired replica count is more than the maximum replica count");
}

TEST_F(Autoscaling, RunningUntilIdleBringsTheTargetToItsSize) {
  CreateWeb(5, {{"terrarium.dev/cpu", "10m"}});
  CreateAutoscaler();
  Idle();
  EXPECT_EQ(Size(), 1) << "it waits for the stabilization window of five minutes";
  EXPECT_GE(bed_.Now() - testbed::TestbedOptions{}.start, 5min);
  const api::Time settled = bed_.Now();
  Idle();
  EXPECT_EQ(bed_.Now(), settled) << "an autoscaler that has settled is idle";
  const std::int64_t revision = bed_.Get("horizontalpodautoscalers", "default", "web")->revision();
  Pass(10min);
  EXPECT_EQ(bed_.Get("horizontalpodautoscalers", "default", "web")->revision(), revision)
      << "a sync that changes nothing writes nothing";
}

TEST_F(Autoscaling, FollowsACourseOfUsage) {
  CreateWeb(1, {{"terrarium.dev/cpu", "50m, 10m:200m"}});
  CreateAutoscaler();
  Pass(9min);
  EXPECT_EQ(Size(), 1);
  Pass(2min);
  EXPECT_GT(Size(), 1);
}

TEST_F(Autoscaling, AChangedScriptCountsFromTheNextSync) {
  CreateWeb(1, {{"terrarium.dev/cpu", "50m"}});
  CreateAutoscaler();
  Pass(1min);
  EXPECT_EQ(Size(), 1);
  SetCpu("100m");
  Pass(15s);
  EXPECT_EQ(Size(), 2);
  // A rule applies to pods without an annotation of their own; the new pod has 50m by its template.
  Testbed::Must(
      bed_.rules().Add({{"name", "busy"}, {"selector", "app=web"}, {"script", {{"memory", "32Mi"}}}}));
  Pass(1s);
  EXPECT_EQ(Metrics("namespaces/default/pods")["items"][0]["containers"][0]["usage"]["memory"], "32Mi");
}

TEST_F(Autoscaling, ScalesByMemoryAndByAverageValue) {
  CreateWeb(2, {{"terrarium.dev/memory", "96Mi"}});
  CreateAutoscaler({{"metrics", Json::array({Resource("memory", {{"averageValue", "64Mi"}})})}});
  Pass(15s);
  EXPECT_EQ(Size(), 3);
  EXPECT_EQ(Status()["currentMetrics"][0]["resource"]["current"], (Json{{"averageValue", "96Mi"}}));
  EXPECT_THAT(Events(), Contains("SuccessfulRescale: New size: 3; reason: memory resource above target"));
}

TEST_F(Autoscaling, ScalesByOneContainer) {
  CreateWeb(1, {{"terrarium.dev/cpu.c", "100m"}});
  const Json metric = {{"type", "ContainerResource"},
                       {"containerResource",
                        {{"name", "cpu"},
                         {"container", "c"},
                         {"target", {{"type", "Utilization"}, {"averageUtilization", 50}}}}}};
  CreateAutoscaler({{"metrics", Json::array({metric})}});
  Pass(15s);
  EXPECT_EQ(Size(), 2);
  EXPECT_EQ(Status()["currentMetrics"][0]["containerResource"]["container"], "c");
}

TEST_F(Autoscaling, KeepsTheTargetWithinItsBounds) {
  CreateWeb(12, {});
  CreateAutoscaler({{"minReplicas", 3}});
  Pass(15s);
  EXPECT_EQ(Size(), 10);
  EXPECT_THAT(Events(), ElementsAre("SuccessfulRescale: New size: 10; reason: Current number of replicas "
                                    "above Spec.MaxReplicas"));
  Testbed::Must(bed_.Patch("deployments", {"default", "web"}, {{"spec", {{"replicas", 2}}}}));
  Pass(15s);
  EXPECT_EQ(Size(), 3);
}

TEST_F(Autoscaling, ATargetOfNoReplicasIsLeftAlone) {
  CreateWeb(0, {});
  CreateAutoscaler();
  Idle();
  EXPECT_EQ(Size(), 0);
  EXPECT_EQ(Condition("ScalingActive"),
            "False ScalingDisabled: scaling is disabled since the replica count of the target is zero");
}

TEST_F(Autoscaling, ReportsATargetItCannotScale) {
  CreateAutoscaler();
  Pass(15s);
  EXPECT_EQ(Condition("AbleToScale"),
            "False FailedGetScale: the HPA controller was unable to get the target's current scale: "
            "deployments.apps \"web\" not found");
  EXPECT_THAT(Events(), ElementsAre("FailedGetScale: deployments.apps \"web\" not found"));
  const auto target = [&](const char* version, const char* kind) {
    Testbed::Must(bed_.Patch("horizontalpodautoscalers", {"default", "web"},
                             {{"spec", {{"scaleTargetRef", {{"apiVersion", version}, {"kind", kind}}}}}}));
    Pass(15s);
    return Condition("AbleToScale");
  };
  EXPECT_THAT(target("apps/v1", "Nothing"), HasSubstr(": no matches for kind \"Nothing\" in group \"apps\""));
  EXPECT_THAT(target("apps/v1", "DaemonSet"),
              HasSubstr(": the server could not find the requested resource"));
  Idle();
}

TEST_F(Autoscaling, ReportsPodsWithoutRequestsAndMetrics) {
  CreateWeb(1, {});
  CreateAutoscaler();
  Testbed::Must(bed_.Patch(
      "deployments", {"default", "web"},
      {{"spec",
        {{"template",
          {{"spec",
            {{"containers", Json::array({{{"name", "c"}, {"resources", {{"requests", nullptr}}}}})}}}}}}}}));
  Pass(30s);
  EXPECT_EQ(
      Condition("ScalingActive"),
      "False FailedGetResourceMetric: the HPA was unable to compute the replica count: failed to get cpu "
      "utilization: missing request for cpu in container c of Pod " +
          bed_.Pods("app=web").at(0).name());
  EXPECT_THAT(Events(),
              Contains(HasSubstr("FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), "
                                 "first error is: failed to get cpu resource metric value: failed to "
                                 "get cpu utilization: missing request")));
  Idle();
}

TEST_F(Autoscaling, MetricsOfAdaptersFailAsInAClusterWithoutAny) {
  CreateWeb(1, {{"terrarium.dev/cpu", "50m"}});
  const Json pods = Json::parse(R"({"type": "Pods", "pods": {"metric": {"name": "requests"},
                                    "target": {"type": "AverageValue", "averageValue": "10"}}})");
  const Json external = Json::parse(R"({"type": "External", "external": {"metric": {"name": "queue",
      "selector": {"matchLabels": {"q": "a"}}}, "target": {"type": "AverageValue", "averageValue": "10"}}})");
  CreateAutoscaler(
      {{"metrics", Json::array({Resource("cpu", {{"averageUtilization", 50}}), pods, external})}});
  Pass(15s);
  EXPECT_EQ(Size(), 1);
  EXPECT_THAT(
      Events(),
      Contains(
          "FailedGetPodsMetric: unable to get metric requests: unable to fetch metrics from custom metrics "
          "API: no custom metrics API (custom.metrics.k8s.io) registered"));
  EXPECT_THAT(Events(),
              Contains(HasSubstr("FailedGetExternalMetric: unable to get external metric default/queue/"
                                 "&LabelSelector{MatchLabels:map[string]string{q: a,}")));
  // With some metrics missing it may grow, and not shrink.
  SetCpu("1");
  Pass(15s);
  EXPECT_EQ(Size(), 4);
  SetCpu("1m");
  Pass(10min);
  EXPECT_EQ(Size(), 4);
}

TEST_F(Autoscaling, TwoAutoscalersOfTheSamePodsAreAmbiguous) {
  CreateWeb(1, {{"terrarium.dev/cpu", "1"}});
  CreateAutoscaler();
  CreateAutoscaler(Json::object(), "web-2");
  Pass(15s);
  EXPECT_EQ(Status("web-2")["conditions"][1]["message"],
            "pods by selector app=web are controlled by multiple HPAs: [{web default} {web-2 default}]");
  Testbed::Must(bed_.Delete("horizontalpodautoscalers", {"default", "web"}));
  Pass(15s);
  EXPECT_EQ(Status("web-2")["conditions"][1]["reason"], "ValidMetricFound");
}

TEST_F(Autoscaling, ScalesEveryKindWithAScale) {
  const Json labels = {{"app", "db"}};
  const Json pod = {
      {"metadata", {{"labels", labels}, {"annotations", {{"terrarium.dev/cpu", "100m"}}}}},
      {"spec",
       {{"containers",
         Json::array({{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", "100m"}}}}}}})}}}};
  Testbed::Must(bed_.Create(
      "statefulsets", "default",
      {{"metadata", {{"name", "db"}}},
       {"spec", {{"serviceName", "db"}, {"selector", {{"matchLabels", labels}}}, {"template", pod}}}}));
  Testbed::Must(
      bed_.Create("replicationcontrollers", "default",
                  {{"metadata", {{"name", "rc"}}},
                   {"spec", {{"selector", {{"app", "rc"}}}, {"template", [&] {
                                                               Json other = pod;
                                                               other["metadata"]["labels"] = {{"app", "rc"}};
                                                               return other;
                                                             }()}}}}));
  CreateAutoscaler({{"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "StatefulSet"}, {"name", "db"}}}},
                   "db");
  CreateAutoscaler(
      {{"scaleTargetRef", {{"apiVersion", "v1"}, {"kind", "ReplicationController"}, {"name", "rc"}}}}, "rc");
  Pass(16s);
  EXPECT_EQ(Status("db")["desiredReplicas"], 2);
  EXPECT_EQ(Status("rc")["desiredReplicas"], 2);
}

TEST_F(Autoscaling, ExplainsEachScaling) {
  CreateWeb(1, {{"terrarium.dev/cpu", "100m"}});
  CreateAutoscaler();
  Pass(15s);
  const auto records = bed_.why().Find("horizontalpodautoscalers", {"default", "web"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].action, "scale");
  EXPECT_EQ(records[0].resource, "deployments");
  EXPECT_EQ(records[0].rule, "cpu resource utilization (percentage of request) above target");
  EXPECT_EQ((*records[0].saw)["from"], 1);
  EXPECT_EQ((*records[0].saw)["to"], 2);
  EXPECT_EQ((*records[0].saw)["counted"], 1);
}

TEST_F(Autoscaling, ARestartedControllerForgetsRecommendations) {
  CreateWeb(5, {{"terrarium.dev/cpu", "10m"}});
  CreateAutoscaler();
  Pass(30s);
  EXPECT_EQ(Size(), 5);
  EXPECT_TRUE(bed_.Crash("controller-manager").ok());
  Pass(10min);
  EXPECT_EQ(Size(), 5);
  EXPECT_TRUE(bed_.Start("controller-manager").ok());
  Pass(5min);
  EXPECT_EQ(Size(), 5) << "the window begins again";
  Pass(1min);
  EXPECT_EQ(Size(), 1);
}

TEST_F(Autoscaling, MetricsAreThoseOfContainersThatHaveRunForAWindow) {
  CreateWeb(1, {{"terrarium.dev/cpu", "100m,1m:1"}, {"terrarium.dev/start-delay", "5s"}});
  Pass(19s);
  EXPECT_TRUE(Metrics("pods")["items"].empty());
  const std::string pod = bed_.Pods("app=web").at(0).name();
  EXPECT_EQ(Metrics("namespaces/default/pods/" + pod)["message"],
            "podmetrics.metrics.k8s.io \"default/" + pod + "\" not found");
  Pass(1s);
  const Json metrics = Metrics("namespaces/default/pods/" + pod);
  EXPECT_EQ(metrics["kind"], "PodMetrics");
  EXPECT_EQ(metrics["timestamp"], "2026-01-01T00:00:20Z");
  EXPECT_EQ(metrics["window"], "15s");
  EXPECT_EQ(metrics["metadata"]["labels"]["app"], "web");
  EXPECT_EQ(metrics["containers"],
            Json::parse(R"([{"name": "c", "usage": {"cpu": "100m", "memory": "10Mi"}}])"));
  Pass(45s);
  EXPECT_EQ(Metrics("pods")["items"][0]["containers"][0]["usage"]["cpu"], "1");
  EXPECT_EQ(Metrics("namespaces/default/pods/absent")["message"], "pods \"absent\" not found");
}

TEST_F(Autoscaling, MetricsAreSelectedByLabelsAndFields) {
  CreateWeb(2, {});
  Pass(1min);
  EXPECT_EQ(Metrics("pods", {{"labelSelector", "app=web"}})["items"].size(), 2u);
  EXPECT_EQ(Metrics("pods", {{"labelSelector", "app=other"}})["items"].size(), 0u);
  const std::string pod = bed_.Pods("app=web").at(1).name();
  EXPECT_EQ(Metrics("pods", {{"fieldSelector", "metadata.name=" + pod}})["items"].size(), 1u);
  EXPECT_EQ(Metrics("namespaces/other/pods")["items"].size(), 0u);
  EXPECT_EQ(Metrics("pods")["kind"], "PodMetricsList");
  EXPECT_EQ(Metrics("pods")["metadata"], Json::object());
}

TEST_F(Autoscaling, ANodeUsesWhatItsPodsUse) {
  CreateWeb(2, {{"terrarium.dev/cpu", "250m"}});
  Pass(1min);
  std::vector<std::string> usage;
  const Json nodes = Metrics("nodes");
  for (const Json& node : nodes.at("items"))
    usage.push_back(std::string(api::StringAt(node, "usage", "cpu")) + " " +
                    std::string(api::StringAt(node, "usage", "memory")));
  EXPECT_THAT(usage, ElementsAre("250m 10Mi", "250m 10Mi"));
  const Json table = Metrics("nodes", {}, "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(table["rows"][0]["cells"], Json::parse(R"(["node-0", "250m", "10Mi", "15s"])"));
  EXPECT_EQ(Metrics("nodes/node-1")["metadata"]["name"], "node-1");
  EXPECT_EQ(Metrics("nodes/absent")["code"], 404);
}

TEST_F(Autoscaling, WithoutAKubeletThereAreNoMetrics) {
  CreateWeb(1, {{"terrarium.dev/cpu", "100m"}});
  CreateAutoscaler();
  Pass(10s);
  EXPECT_TRUE(bed_.Crash("kubelet").ok());
  Pass(5s);
  EXPECT_TRUE(Metrics("pods")["items"].empty());
  EXPECT_THAT(
      Condition("ScalingActive"),
      HasSubstr("unable to get metrics for resource cpu: no metrics returned from resource metrics API"));
}

}  // namespace
}  // namespace terrarium::controllers
