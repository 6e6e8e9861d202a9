#pragma once

// Workloads and accessors for tests that stop, crash and restart components.

#include <string>
#include <string_view>
#include <vector>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {

inline constexpr const char* kPolicyGates =
    "DeploymentPodReplacementPolicy=true,DeploymentReplicaSetTerminatingReplicas=true";

inline api::Json TestPodTemplate(const std::string& image, api::Json annotations) {
  return {{"metadata", {{"labels", {{"app", "web"}}}, {"annotations", std::move(annotations)}}},
          {"spec", {{"containers", {{{"name", "web"}, {"image", image}}}}}}};
}

inline api::Json TestDeployment(int replicas, const std::string& image,
                                api::Json annotations = api::Json::object()) {
  return {{"metadata", {{"name", "web"}, {"namespace", "default"}}},
          {"spec",
           {{"replicas", replicas},
            {"selector", {{"matchLabels", {{"app", "web"}}}}},
            {"template", TestPodTemplate(image, std::move(annotations))}}}};
}

// Its pods run for 10 s and succeed.
inline api::Json TestJob(int completions, int parallelism) {
  api::Json pods = TestPodTemplate("i:1", {{"terrarium.dev/run-for", "10s"}});
  pods["spec"]["restartPolicy"] = "Never";
  return {
      {"metadata", {{"name", "sum"}, {"namespace", "default"}}},
      {"spec", {{"completions", completions}, {"parallelism", parallelism}, {"template", std::move(pods)}}}};
}

inline api::Json TestPod(const std::string& name, api::Json annotations) {
  return {{"metadata", {{"name", name}, {"annotations", std::move(annotations)}}},
          {"spec",
           {{"containers", {{{"name", "web"}, {"image", "i:1"}}}}, {"terminationGracePeriodSeconds", 60}}}};
}

inline api::Json DocumentOf(Testbed& bed, std::string_view resource, std::string_view name) {
  api::ObjectPtr object = bed.Get(resource, "default", name);
  return object == nullptr ? api::Json() : object->Parse();
}

inline std::string PhaseOfPod(Testbed& bed, std::string_view name) {
  return std::string(api::StringAt(DocumentOf(bed, "pods", name), "status", "phase"));
}

// Pods that are not being deleted.
inline int LivePods(Testbed& bed) {
  int count = 0;
  for (const api::ObjectPtr& pod : bed.List("pods", "default")) count += pod->header().deleting ? 0 : 1;
  return count;
}

inline bool RolledOut(Testbed& bed, int replicas, const std::string& image) {
  const api::Json deployment = DocumentOf(bed, "deployments", "web");
  if (api::IntAt(deployment, 0, "status", "observedGeneration") !=
      api::IntAt(deployment, -1, "metadata", "generation"))
    return false;
  for (const char* count : {"replicas", "updatedReplicas", "availableReplicas"})
    if (api::IntAt(deployment, 0, "status", count) != replicas) return false;
  for (const api::ObjectPtr& pod : bed.List("pods", "default")) {
    const api::Json document = pod->Parse();
    if (api::StringAt(api::ListAt(document, "spec", "containers")[0], "image") != image) return false;
  }
  return LivePods(bed) == replicas;
}

}  // namespace terrarium::testbed
