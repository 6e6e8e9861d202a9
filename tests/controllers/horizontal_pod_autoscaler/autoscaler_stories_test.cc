// The stories of KEP-3189 that name an autoscaler: the HorizontalPodAutoscaler decides how many pods there
// are, and the pod picker which of them go.

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"
#include "tests/controllers/runtime/fake_http_caller.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using testbed::Testbed;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

class AutoscaledPicker : public ::testing::Test {
 protected:
  AutoscaledPicker() {
    // As the stories' pickers do: the pods with the least work are chosen.
    caller_.answer = [this](const api::HttpCall& call) {
      const Json request = Json::parse(call.body);
      std::multimap<int, std::string> by_work;
      for (const Json& pod : request["candidate_pods"])
        by_work.emplace(work_[pod.get<std::string>()], pod.get<std::string>());
      std::vector<std::string> chosen;
      for (const auto& [work, pod] : by_work)
        if (chosen.size() < request["number_of_pods_requested"].get<std::size_t>()) chosen.push_back(pod);
      return controllers_testing::Picks(chosen);
    };
  }
  void Create(int replicas) {
    Testbed::Must(bed_.Apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker}
spec:
  replicas: )" + std::to_string(replicas) +
                             R"(
  selector: {matchLabels: {app: worker}}
  downscalePodPicker: {http: {host: picker.test, port: 8080, path: /pick}}
  template:
    metadata: {labels: {app: worker}, annotations: {terrarium.dev/cpu: 50m}}
    spec: {containers: [{name: c, image: "worker:1", resources: {requests: {cpu: 100m}}}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: worker}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: worker}
  minReplicas: 2
  maxReplicas: 8
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
  behavior: {scaleDown: {stabilizationWindowSeconds: 60, policies: [{type: Pods, value: 1, periodSeconds: 60}]}}
)"));
    bed_.clock().Advance(1min);
  }
  std::vector<std::string> Pods() {
    std::vector<std::string> names;
    for (const testbed::PodView& pod : bed_.Pods("app=worker")) names.push_back(pod.name());
    return names;
  }
  void SetCpu(const char* cpu) {
    for (const std::string& pod : Pods())
      Testbed::Must(bed_.Patch("pods", {"default", pod},
                               {{"metadata", {{"annotations", {{"terrarium.dev/cpu", cpu}}}}}}));
  }

  std::map<std::string, int> work_;
  controllers_testing::FakeHttpCaller caller_;
  Testbed bed_{{.feature_gates = "DownscalePodPicker=true", .nodes = 1, .http_caller = &caller_}};
};

TEST_F(AutoscaledPicker, ADownscaleByTheAutoscalerTakesTheLeastActivePods) {
  Create(4);
  const std::vector<std::string> pods = Pods();
  ASSERT_EQ(pods.size(), 4u);
  work_ = {{pods[0], 1}, {pods[1], 9}, {pods[2], 0}, {pods[3], 5}};
  SetCpu("10m");
  bed_.clock().Advance(30s);  // the autoscaler sees the change
  ASSERT_EQ(bed_.clock().RunUntilIdle(30min).why, testbed::RunOutcome::Why::kIdle);
  EXPECT_THAT(Pods(), UnorderedElementsAre(pods[1], pods[3]));
  EXPECT_EQ(caller_.calls.size(), 2u) << "one pod goes at a time, by the policy";
}

TEST_F(AutoscaledPicker, TheSizeIsTheAutoscalersWhateverThePickerAnswers) {
  Create(4);
  caller_.answer = [](const api::HttpCall&) {
    return controllers_testing::Fails(api::HttpAnswer::Outcome::kRefused, "refused");
  };
  SetCpu("10m");
  bed_.clock().Advance(30s);  // the autoscaler sees the change
  ASSERT_EQ(bed_.clock().RunUntilIdle(1h).why, testbed::RunOutcome::Why::kIdle);
  EXPECT_EQ(Pods().size(), 2u);
}

}  // namespace
}  // namespace terrarium::controllers
