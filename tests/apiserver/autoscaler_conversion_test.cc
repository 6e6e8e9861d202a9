#include "apiserver/strategy/autoscaler_conversion.h"

#include <gtest/gtest.h>

#include "api/codec/normalize.h"
#include "api/json_access.h"
#include "api/schema/schema.h"

namespace terrarium::apiserver {
namespace {

// A normalised document of a version.
Json Autoscaler(const char* version, const char* text) {
  Json document = Json::parse(text);
  const auto& schema =
      api::Schema::Get().Must(std::string("io.k8s.api.autoscaling.") + version + ".HorizontalPodAutoscaler");
  EXPECT_FALSE(api::Normalize(schema, document, nullptr));
  return document;
}

// An autoscaler with every type of metric, and a status.
Json Full() {
  return Autoscaler("v2", R"({
    "metadata": {"name": "a", "annotations": {"mine": "1"}},
    "spec": {"maxReplicas": 5, "minReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "web"},
      "behavior": {"scaleDown": {"selectPolicy": "Min", "stabilizationWindowSeconds": 30, "tolerance": "50m",
                                 "policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}},
      "metrics": [
        {"type": "Pods", "pods": {"metric": {"name": "p", "selector": {"matchLabels": {"a": "b"}}},
                                  "target": {"type": "AverageValue", "averageValue": "1"}}},
        {"type": "Object", "object": {"describedObject": {"kind": "Ingress", "name": "i"},
                                      "metric": {"name": "o"}, "target": {"type": "Value", "value": "2"}}},
        {"type": "External", "external": {"metric": {"name": "e"},
                                          "target": {"type": "AverageValue", "averageValue": "3"}}},
        {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c",
            "target": {"type": "Utilization", "averageUtilization": 40}}},
        {"type": "Resource", "resource": {"name": "memory",
            "target": {"type": "AverageValue", "averageValue": "1Mi"}}},
        {"type": "Resource", "resource": {"name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": 50}}}]},
    "status": {"currentReplicas": 2, "desiredReplicas": 3,
      "conditions": [{"type": "AbleToScale", "status": "True", "reason": "R", "message": "m",
                      "lastTransitionTime": "2026-01-01T00:00:00Z"}],
      "currentMetrics": [
        {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 60,
                                                                     "averageValue": "60m"}}},
        {"type": ""}]}})");
}

TEST(AutoscalerConversion, ARoundTripKeepsEverything) {
  const Json before = Full();
  Json document = before;
  AutoscalerToV1(document);
  AutoscalerToV2(document);
  EXPECT_EQ(document.dump(2), before.dump(2));
}

TEST(AutoscalerConversion, CpuUtilizationIsAFieldOfV1) {
  Json document = Full();
  AutoscalerToV1(document);
  EXPECT_EQ(document["spec"], Json::parse(R"({"maxReplicas": 5, "minReplicas": 2,
      "scaleTargetRef": {"kind": "Deployment", "name": "web"}, "targetCPUUtilizationPercentage": 50})"));
  EXPECT_EQ(document["status"], Json::parse(R"({"currentReplicas": 2, "desiredReplicas": 3,
      "currentCPUUtilizationPercentage": 60})"));
  const Json& annotations = document["metadata"]["annotations"];
  EXPECT_EQ(annotations["mine"], "1");
  const auto read = [&](const char* name) {
    return Json::parse(
        std::string(api::StringAt(annotations, std::string("autoscaling.alpha.kubernetes.io/") + name)));
  };
  EXPECT_EQ(read("metrics")[0], Json::parse(R"({"type": "Pods", "pods": {"metricName": "p",
      "selector": {"matchLabels": {"a": "b"}}, "targetAverageValue": "1"}})"));
  EXPECT_EQ(read("metrics")[1], Json::parse(R"({"type": "Object", "object": {"metricName": "o",
      "target": {"kind": "Ingress", "name": "i"}, "targetValue": "2"}})"));
  EXPECT_EQ(read("metrics").size(), 5u);
  EXPECT_EQ(read("behavior"), Json::parse(R"({"ScaleDown": {"SelectPolicy": "Min",
      "StabilizationWindowSeconds": 30, "Tolerance": "50m",
      "Policies": [{"Type": "Pods", "Value": 1, "PeriodSeconds": 60}]}})"));
  EXPECT_EQ(read("conditions")[0]["reason"], "R");
}

TEST(AutoscalerConversion, AnAutoscalerOfV1HasADefaultTarget) {
  Json document = Autoscaler("v1", R"({"metadata": {"name": "a"}, "spec": {"maxReplicas": 5}})");
  AutoscalerToV2(document);
  EXPECT_EQ(document["spec"]["metrics"], Json::parse(R"([{"type": "Resource", "resource": {"name": "cpu",
      "target": {"type": "Utilization", "averageUtilization": 80}}}])"));
}

TEST(AutoscalerConversion, AnnotationsThatCannotBeReadAreIgnored) {
  for (const char* value : {"{", "1", "[1]", "[{\"type\": 5}]", "{\"ScaleUp\": 3}", "[[[[]]]]"}) {
    const std::string text = R"({"metadata": {"name": "a"}, "spec": {"maxReplicas": 5}})";
    Json document = Autoscaler("v1", text.c_str());
    for (const char* name : {"metrics", "behavior", "current-metrics", "conditions"})
      document["metadata"]["annotations"][std::string("autoscaling.alpha.kubernetes.io/") + name] = value;
    AutoscalerToV2(document);
    EXPECT_EQ(document["spec"]["metrics"].size(), 1u) << value;
    EXPECT_FALSE(document["spec"].contains("behavior")) << value;
    EXPECT_FALSE(document["metadata"].contains("annotations")) << value;
  }
}

}  // namespace
}  // namespace terrarium::apiserver
