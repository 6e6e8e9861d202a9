#include "controllers/daemonset/internal/daemon_pod.h"

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::daemonset {
namespace {

using api::Json;
using controllers_testing::MakeObject;
using namespace std::chrono_literals;

Json DaemonSet() {
  return Json::parse(R"({
      "metadata": {"name": "agent", "namespace": "default", "uid": "u1",
                   "annotations": {"deprecated.daemonset.template.generation": "3"}},
      "spec": {"template": {"metadata": {"labels": {"app": "agent"}, "annotations": {"note": "x"}},
                            "spec": {"containers": [{"name": "c", "image": "agent:1"}]}}}})");
}

std::string Tolerated(const Json& tolerations) {
  std::string text;
  for (const Json& toleration : tolerations) {
    std::string key(api::StringAt(toleration, "key"));
    key.erase(0, key.rfind('/') + 1);
    text += (text.empty() ? "" : " ") + key + ":" + std::string(api::StringAt(toleration, "effect"));
    if (toleration.contains("tolerationSeconds")) text += "!";
  }
  return text;
}

constexpr const char* kUsual =
    "not-ready:NoExecute unreachable:NoExecute disk-pressure:NoSchedule memory-pressure:NoSchedule "
    "pid-pressure:NoSchedule unschedulable:NoSchedule";

TEST(DaemonTolerations, AreAddedToThoseOfTheTemplate) {
  EXPECT_EQ(Tolerated(DaemonTolerations(Json::object())), kUsual);
  EXPECT_EQ(Tolerated(DaemonTolerations({{"hostNetwork", true}})),
            kUsual + std::string(" network-unavailable:NoSchedule"));
  Json own = {{"tolerations", {{{"key", "example.com/gpu"}, {"operator", "Exists"}}}}};
  EXPECT_EQ(Tolerated(DaemonTolerations(own)), "gpu: " + std::string(kUsual));
}

TEST(DaemonTolerations, ReplaceOnesThatDifferInTheirSecondsOnly) {
  Json spec = {{"tolerations",
                {{{"key", "node.kubernetes.io/unreachable"},
                  {"operator", "Exists"},
                  {"effect", "NoExecute"},
                  {"tolerationSeconds", 30}},
                 {{"key", "node.kubernetes.io/not-ready"},
                  {"operator", "Equal"},
                  {"value", "x"},
                  {"effect", "NoExecute"},
                  {"tolerationSeconds", 30}}}}};
  EXPECT_EQ(Tolerated(DaemonTolerations(spec)),
            "unreachable:NoExecute not-ready:NoExecute! not-ready:NoExecute disk-pressure:NoSchedule "
            "memory-pressure:NoSchedule pid-pressure:NoSchedule unschedulable:NoSchedule");
}

TEST(TemplateGeneration, IsANumberOrNothing) {
  auto of = [](const char* text) {
    Json daemon_set;
    daemon_set["metadata"]["annotations"][std::string(kGenerationAnnotation)] = text;
    return TemplateGeneration(daemon_set);
  };
  EXPECT_EQ(of("3"), "3");
  EXPECT_EQ(of("007"), "7");
  EXPECT_EQ(of("3x"), "");
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(TemplateGeneration(Json::object()), "");
}

TEST(PodTemplateFor, HasLabelsTolerationsAndItsNode) {
  const Json document = DaemonSet();
  Json pod = PodTemplateFor(*MakeObject(document), document, "abc");
  PinToNode(pod, "node-1");
  EXPECT_EQ(pod["metadata"], Json::parse(R"({
      "generateName": "agent-", "annotations": {"note": "x"},
      "labels": {"app": "agent", "controller-revision-hash": "abc", "pod-template-generation": "3"},
      "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u1",
                           "controller": true, "blockOwnerDeletion": true}]})"));
  EXPECT_EQ(Tolerated(pod["spec"]["tolerations"]), kUsual);
  EXPECT_EQ(pod["spec"]["affinity"], Json::parse(R"({"nodeAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
          {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}]}}})"));
}

// TestReplaceDaemonSetPodNodeNameNodeAffinity of Kubernetes.
TEST(PinToNode, ReplacesRequiredTermsAndKeepsTheRest) {
  Json pod = Json::parse(R"({"spec": {"affinity": {
      "podAntiAffinity": {"x": 1},
      "nodeAffinity": {
          "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
              {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]},
              {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["other"]}]}]},
          "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}}})");
  PinToNode(pod, "node-1");
  EXPECT_EQ(pod["spec"]["affinity"], Json::parse(R"({
      "podAntiAffinity": {"x": 1},
      "nodeAffinity": {
          "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
              {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}]},
          "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}})"));
}

// TestGetTargetNodeName of Kubernetes.
TEST(TargetNode, IsTheBoundNodeOrTheOnlyNamedOne) {
  auto target = [](const char* spec) {
    Json pod = {{"metadata", {{"name", "p"}}}, {"spec", Json::parse(spec)}};
    return TargetNode(*MakeObject(pod), pod);
  };
  auto named = [&](const std::string& fields) {
    return target((R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchFields": [)" +
                   fields + "]}]}}}}")
                      .c_str());
  };
  EXPECT_EQ(target(R"({"nodeName": "a"})"), "a");
  EXPECT_EQ(target("{}"), "");
  EXPECT_EQ(named(R"({"key": "metadata.name", "operator": "In", "values": ["a"]})"), "a");
  EXPECT_EQ(named(R"({"key": "metadata.name", "operator": "In", "values": ["a", "b"]})"), "");
  EXPECT_EQ(named(R"({"key": "metadata.name", "operator": "NotIn", "values": ["a"]})"), "");
}

TEST(DaemonPod, IsAvailableAfterTheMinimalTime) {
  DaemonPod pod{.pod = nullptr};
  EXPECT_EQ(pod.AvailableFrom(0s), kNoTime);
  pod.ready = true;
  EXPECT_EQ(pod.AvailableFrom(0s), api::Time::min());
  EXPECT_EQ(pod.AvailableFrom(5s), kNoTime) << "without a transition time";
  pod.ready_since = api::Time(100s);
  EXPECT_EQ(pod.AvailableFrom(5s), api::Time(105s));
}

}  // namespace
}  // namespace terrarium::controllers::daemonset
