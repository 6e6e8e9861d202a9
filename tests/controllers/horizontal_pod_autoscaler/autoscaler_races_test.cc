// Conflicts, failing requests and timers, against a fake apiserver.

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/horizontal_pod_autoscaler/horizontal_pod_autoscaler_controller.h"
#include "controllers/runtime/served_resource.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using namespace std::chrono_literals;

const api::ObjectName kName{"default", "web"};

class AutoscalerRaces : public testing::Test {
 protected:
  AutoscalerRaces() {
    client_.Put("deployments",
                {{"metadata", {{"name", "web"}, {"namespace", "default"}}},
                 {"spec", {{"replicas", 2}, {"selector", {{"matchLabels", {{"app", "web"}}}}}}},
                 {"status", {{"replicas", 2}}}});
    for (const char* name : {"a", "b"}) PutPod(name, "100m");
    client_.Put("horizontalpodautoscalers",
                {{"metadata", {{"name", "web"}, {"namespace", "default"}, {"uid", "hu"}}},
                 {"spec", Json::parse(R"({"minReplicas": 1, "maxReplicas": 10,
                      "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                      "metrics": [{"type": "Resource", "resource": {"name": "cpu",
                          "target": {"type": "Utilization", "averageUtilization": 50}}}]})")},
                 {"status", Json::object()}});
    ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
    controller_ = MakeHorizontalPodAutoscalerController(context, resources_);
    informers_.OnSynced([this] { controller_->Start(); });
    informers_.Start();
    runtime_.RunReady();
  }
  void PutPod(const char* name, const char* cpu) {
    const Json metadata = {{"name", name}, {"namespace", "default"}, {"labels", {{"app", "web"}}}};
    const std::string long_ago = api::FormatTime(FakeRuntime::kStart - 1h);
    client_.Put(
        "pods",
        {{"metadata", metadata},
         {"spec", Json::parse(R"({"containers": [{"name": "c", "resources":
                              {"requests": {"cpu": "100m"}}}]})")},
         {"status",
          {{"phase", "Running"},
           {"startTime", long_ago},
           {"conditions",
            Json::array({{{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", long_ago}}})}}}});
    client_.Put("pods.metrics.k8s.io",
                {{"metadata", metadata},
                 {"timestamp", long_ago},
                 {"window", "15s"},
                 {"containers", Json::array({{{"name", "c"}, {"usage", {{"cpu", cpu}}}}})}});
  }
  Json Status() { return client_.Find("horizontalpodautoscalers", kName)->Parse()["status"]; }
  int ScaleWrites() {
    int count = 0;
    for (const api::WriteRequest& write : client_.writes) count += write.subresource == "scale" ? 1 : 0;
    return count;
  }
  // The size that the last write of the scale asked for.
  int Asked() {
    int size = 0;
    for (const api::WriteRequest& write : client_.writes)
      if (write.subresource == "scale")
        size = static_cast<int>(api::IntAt(write.body, 0, "spec", "replicas"));
    return size;
  }
  std::string ReasonOf(const char* type) {
    const Json status = Status();
    for (const Json& condition : status.at("conditions"))
      if (api::StringAt(condition, "type") == type) return std::string(api::StringAt(condition, "reason"));
    return "";
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  EventRecorder recorder_{runtime_.env(), client_};
  Metrics metrics_;
  WhyLog why_;
  ServedResources resources_{{{"deployments", "apps", "v1", "Deployment", true, true}}};
  std::unique_ptr<Controller> controller_;
};

TEST_F(AutoscalerRaces, AConflictOfTheScaleIsRetriedWithTheNewestVersion) {
  client_.write_failures.assign(4, api::ModifiedConflict({"apps", "deployments"}, "web"));
  runtime_.Advance(15s);
  EXPECT_EQ(ScaleWrites(), 5);
  EXPECT_EQ(Asked(), 4);
  EXPECT_EQ(ReasonOf("AbleToScale"), "SucceededRescale");
}

TEST_F(AutoscalerRaces, AScaleThatCannotBeWrittenIsReportedAndTriedAgain) {
  client_.write_failures.assign(1, api::InternalError("no"));
  runtime_.Advance(15s);
  EXPECT_EQ(ScaleWrites(), 1);
  EXPECT_EQ(ReasonOf("AbleToScale"), "FailedUpdateScale");
  EXPECT_TRUE(why_.Find().empty());
  runtime_.Advance(15s);
  EXPECT_EQ(Asked(), 4);
  EXPECT_EQ(why_.Find().size(), 1u);
}

TEST_F(AutoscalerRaces, AnAutoscalerThatIsDeletedInASyncIsForgotten) {
  client_.HoldWrites();
  runtime_.Advance(15s);
  EXPECT_EQ(ScaleWrites(), 1);
  client_.Remove("horizontalpodautoscalers", kName);
  runtime_.RunReady();
  client_.ReleaseWrites();
  runtime_.Advance(5min);
  EXPECT_EQ(ScaleWrites(), 1);
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
}

TEST_F(AutoscalerRaces, TheTimerIsHousekeepingOnceNothingChanges) {
  for (const char* name : {"a", "b"}) PutPod(name, "50m");
  runtime_.Advance(1s);
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 1u) << "the first sync";
  runtime_.Advance(14s);
  runtime_.Advance(1s);
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 1u) << "the status was written";
  runtime_.Advance(15s);
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
  Json changed = client_.Find("horizontalpodautoscalers", kName)->Parse();
  changed["spec"]["maxReplicas"] = 3;
  client_.Put("horizontalpodautoscalers", changed);
  runtime_.RunReady();
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 1u) << "a new spec";
}

TEST_F(AutoscalerRaces, AStatusThatCannotBeWrittenIsAnEventAndTriedAgain) {
  for (const char* name : {"a", "b"}) PutPod(name, "50m");
  client_.write_failures.assign(1, api::InternalError("no"));
  runtime_.Advance(16s);
  EXPECT_TRUE(Status().empty());
  runtime_.Advance(15s);
  EXPECT_EQ(Status()["currentReplicas"], 2);
}

}  // namespace
}  // namespace terrarium::controllers
