// Stale views, foreign changes and failing requests, against a fake apiserver.

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/endpoints/endpoint_slice_controller.h"
#include "controllers/endpoints/endpoints_controller.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using Verb = api::WriteRequest::Verb;
using namespace std::chrono_literals;

class EndpointRaces : public testing::Test {
 protected:
  using Make = std::unique_ptr<Controller> (*)(const ControllerContext&);

  void Start(Make make) {
    client_.Put("services", Service());
    StartWithoutService(make);
  }
  void StartWithoutService(Make make) {
    client_.Put("nodes", {{"metadata", {{"name", "node-0"}}}});
    controller_ = make({runtime_.env(), client_, informers_, recorder_, metrics_, why_});
    informers_.OnSynced([this] { controller_->Start(); });
    informers_.Start();
    runtime_.RunReady();
  }
  static Json Service() {
    return {{"metadata",
             {{"name", "web"},
              {"namespace", "default"},
              {"uid", "su"},
              {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
            {"spec",
             {{"type", "ClusterIP"},
              {"clusterIP", "10.96.0.7"},
              {"ipFamilies", Json::array({"IPv4"})},
              {"selector", {{"app", "web"}}},
              {"ports", {{{"name", "http"}, {"port", 80}, {"protocol", "TCP"}, {"targetPort", 80}}}}}}};
  }
  void PutPod(const std::string& name, const std::string& ip, const char* node = "node-0") {
    client_.Put("pods",
                {{"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{"app", "web"}}}}},
                 {"spec", {{"nodeName", node}}},
                 {"status",
                  {{"phase", "Running"},
                   {"podIPs", {{{"ip", ip}}}},
                   {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
  }
  int Sent(Verb verb, std::string_view resource) {
    int count = 0;
    for (const api::WriteRequest& write : client_.writes)
      if (write.verb == verb && write.resource == resource) ++count;
    return count;
  }
  // The endpoints in all slices.
  std::size_t Endpoints() {
    std::size_t count = 0;
    auto slices = client_.List("endpointslices", std::nullopt);
    for (const api::ObjectPtr& slice : slices->items)
      count += api::ListAt(*slice->Document(), "endpoints").size();
    return count;
  }
  std::string Events() {
    std::string text;
    for (const api::WriteRequest& write : client_.writes)
      if (write.resource == "events" && write.verb == Verb::kCreate)
        text += std::string(api::StringAt(write.body, "reason")) + ": " +
                std::string(api::StringAt(write.body, "message")) + "\n";
    return text;
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  EventRecorder recorder_{runtime_.env(), client_};
  Metrics metrics_;
  WhyLog why_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(EndpointRaces, ASyncWhoseViewLacksItsOwnSliceWaits) {
  StartWithoutService(MakeEndpointSliceController);
  informers_.For("endpointslices").Pause();
  client_.Put("services", Service());
  runtime_.RunReady();
  ASSERT_EQ(Sent(Verb::kCreate, "endpointslices"), 1);
  PutPod("a", "10.244.0.1");
  runtime_.Advance(5s);
  EXPECT_EQ(Endpoints(), 0u);
  informers_.For("endpointslices").Resume();
  runtime_.Advance(10s);
  EXPECT_EQ(Endpoints(), 1u);
  EXPECT_EQ(Sent(Verb::kCreate, "endpointslices"), 1) << "no second slice for the same endpoints";
}

TEST_F(EndpointRaces, AFailedWriteIsReportedAndRetried) {
  Start(MakeEndpointSliceController);
  PutPod("a", "10.244.0.1");
  client_.write_failures.assign(1, api::InternalError("no"));
  runtime_.RunReady();
  EXPECT_EQ(Endpoints(), 0u);
  runtime_.Advance(2s);
  EXPECT_EQ(Endpoints(), 1u);
  EXPECT_NE(
      Events().find("FailedToUpdateEndpointSlices: Error updating Endpoint Slices for Service default/web: "
                    "failed to update "),
      std::string::npos)
      << Events();
}

TEST_F(EndpointRaces, APodOnAMissingNodeIsRetriedAndReported) {
  Start(MakeEndpointSliceController);
  PutPod("a", "10.244.0.1", "node-7");
  runtime_.RunReady();
  EXPECT_EQ(Endpoints(), 0u);
  EXPECT_NE(Events().find("skipping Pod a for Service default/web: Node node-7 Not Found"), std::string::npos)
      << Events();
  client_.Put("nodes", {{"metadata", {{"name", "node-7"}}}});
  runtime_.Advance(2s);
  EXPECT_EQ(Endpoints(), 1u);
}

TEST_F(EndpointRaces, ANamespaceThatIsBeingDeletedFailsNoSync) {
  api::Status terminating =
      api::Forbidden({"discovery.k8s.io", "endpointslices"}, "web", "it is terminating");
  terminating.details.emplace().causes.push_back(
      {"NamespaceTerminating", "namespace default is being terminated", ""});
  client_.write_failures.assign(1, terminating);
  Start(MakeEndpointSliceController);
  runtime_.Advance(100s);
  EXPECT_EQ(Events(), "");
  EXPECT_EQ(Sent(Verb::kCreate, "endpointslices"), 1);
}

TEST_F(EndpointRaces, EndpointsAreNotCreatedTwice) {
  Start(MakeEndpointsController);
  ASSERT_EQ(Sent(Verb::kCreate, "endpoints"), 1);
  EXPECT_EQ(Sent(Verb::kUpdate, "endpoints"), 0);
  informers_.For("endpoints").Pause();
  PutPod("a", "10.244.0.1");
  runtime_.Advance(1s);
  PutPod("b", "10.244.0.2");
  runtime_.Advance(1s);
  informers_.For("endpoints").Resume();
  runtime_.Advance(10s);
  EXPECT_EQ(Sent(Verb::kCreate, "endpoints"), 1);
  const Json document = client_.Find("endpoints", {"default", "web"})->Parse();
  EXPECT_EQ(document["subsets"][0]["addresses"].size(), 2u);
}

TEST_F(EndpointRaces, EndpointsWithoutAServiceAreDeletedAtTheStart) {
  client_.Put("endpoints", {{"metadata", {{"name", "left"}, {"namespace", "default"}}}});
  client_.Put("endpoints", {{"metadata",
                             {{"name", "lock"},
                              {"namespace", "default"},
                              {"annotations", {{"control-plane.alpha.kubernetes.io/leader", "{}"}}}}}});
  Start(MakeEndpointsController);
  EXPECT_EQ(client_.Find("endpoints", {"default", "left"}), nullptr);
  EXPECT_NE(client_.Find("endpoints", {"default", "lock"}), nullptr);
}

}  // namespace
}  // namespace terrarium::controllers
