#pragma once

// A Deployment controller alone: the test makes the apiserver fail and acts as the ReplicaSet controller.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/deployment/deployment_controller.h"
#include "controllers/deployment/internal/conditions.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers::deployment {

using api::Json;
using api::ObjectPtr;
using api::StringAt;
using api::WriteRequest;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;

inline api::Status Refused() { return api::Forbidden({"apps", "replicasets"}, "web-1", "exceeded quota"); }

// Refuses to create ReplicaSets while the test asks for it, and drops pickers silently, as an apiserver does
// whose gate is off.
class QuotaClient : public FakeClient {
 public:
  explicit QuotaClient(FakeRuntime& runtime) : FakeClient(runtime), runtime_(runtime) {}
  void Send(WriteRequest request, WriteDone done) override {
    if (drops_pickers && request.resource == "replicasets" &&
        api::Find(request.body, "spec", "downscalePodPicker") != nullptr) {
      request.body["spec"].erase("downscalePodPicker");
      ++dropped;
      if (request.verb == WriteRequest::Verb::kPatch && request.body["spec"].empty())
        return runtime_.Post(
            [done = std::move(done), as_it_is = Find(request.resource, request.object)] { done(as_it_is); });
    }
    if (!full || request.resource != "replicasets" || request.verb != WriteRequest::Verb::kCreate)
      return FakeClient::Send(std::move(request), std::move(done));
    ++refused;
    runtime_.Post([done = std::move(done)] { done(Refused()); });
  }
  bool full = false;
  bool drops_pickers = false;
  int refused = 0;
  int dropped = 0;

 private:
  FakeRuntime& runtime_;
};

class DeploymentAlone : public testing::Test {
 protected:
  DeploymentAlone() {
    informers_.Start();
    StartController();
  }
  void StartController() {
    ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
    controller_ = MakeDeploymentController(context);
    informers_.OnSynced([this] { controller_->Start(); });
    runtime_.RunReady();
  }

  Json Deployment(int replicas) {
    const Json labels = {{"app", "web"}};
    return {{"metadata",
             {{"name", "web"},
              {"namespace", "default"},
              {"generation", ++generation_},
              {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
            {"spec",
             {{"replicas", replicas},
              {"progressDeadlineSeconds", 600},
              {"revisionHistoryLimit", 10},
              {"selector", {{"matchLabels", labels}}},
              {"strategy",
               {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", 1}, {"maxUnavailable", 0}}}}},
              {"template",
               {{"metadata", {{"labels", labels}}},
                {"spec", {{"containers", {{{"name", "c"}, {"image", "web:1"}}}}}}}}}}};
  }
  void Put(Json deployment) {
    ObjectPtr present = client_.Find("deployments", kName);
    if (present != nullptr && api::Find(*present->Document(), "status") != nullptr)
      deployment["status"] = api::ObjectAt(*present->Document(), "status");
    client_.Put("deployments", std::move(deployment));
    runtime_.RunReady();
  }
  void SetSpec(const char* key, const Json& value) {
    Json deployment = client_.Find("deployments", kName)->Parse();
    deployment["metadata"]["generation"] = ++generation_;
    deployment["spec"][key] = value;
    client_.Put("deployments", std::move(deployment));
    runtime_.RunReady();
  }
  // The only ReplicaSet.
  Json Set() {
    EXPECT_EQ(Sets().size(), 1u);
    return Sets().at(0)->Parse();
  }
  // The ReplicaSet's status reports all pods.
  void ReportAll(Json set, const Json& more = Json::object()) {
    const Json replicas = set["spec"]["replicas"];
    set["metadata"]["generation"] = 1;
    set["status"] = {{"replicas", replicas},
                     {"readyReplicas", replicas},
                     {"availableReplicas", replicas},
                     {"observedGeneration", 1},
                     {"terminatingReplicas", 0}};
    set["status"].update(more);
    client_.Put("replicasets", std::move(set));
    runtime_.RunReady();
  }
  void RunOne(int replicas) {
    Put(Deployment(replicas));
    ReportAll(Set());
    client_.writes.clear();
  }
  Json Status() { return api::ObjectAt(*client_.Find("deployments", kName)->Document(), "status"); }
  std::string Reason() {
    const Json status = Status();
    const Json* condition = FindCondition(api::ListAt(status, "conditions"), kProgressing);
    return condition == nullptr ? "none" : std::string(StringAt(*condition, "reason"));
  }
  int Writes(const char* resource, WriteRequest::Verb verb) {
    return static_cast<int>(std::count_if(
        client_.writes.begin(), client_.writes.end(),
        [&](const WriteRequest& write) { return write.resource == resource && write.verb == verb; }));
  }
  int Events(const std::string& reason) {
    auto events = client_.List("events", "default");
    return static_cast<int>(std::count_if(
        events->items.begin(), events->items.end(),
        [&](const ObjectPtr& event) { return StringAt(*event->Document(), "reason") == reason; }));
  }
  std::vector<ObjectPtr> Sets() { return client_.List("replicasets", "default")->items; }

  const api::ObjectName kName{"default", "web"};
  FakeRuntime runtime_;
  QuotaClient client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  EventRecorder recorder_{runtime_.env(), client_};
  Metrics metrics_;
  WhyLog why_;
  std::unique_ptr<Controller> controller_;
  int generation_ = 0;
};

}  // namespace terrarium::controllers::deployment
