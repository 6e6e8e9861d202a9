// Endpoints and EndpointSlices in a whole cluster.

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/runtime/why.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using testbed::Testbed;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

class EndpointSlices : public testing::Test {
 protected:
  void CreateService(const Json& spec = Json::object(), const Json& metadata = Json::object()) {
    Json service = {{"metadata", {{"name", "web"}}},
                    {"spec",
                     {{"selector", {{"app", "web"}}},
                      {"ports", {{{"name", "http"}, {"port", 80}, {"targetPort", 8080}}}}}}};
    service["spec"].update(spec);
    service["metadata"].update(metadata);
    Testbed::Must(bed_.Create("services", "default", service));
  }
  void CreatePod(const std::string& name, const Json& annotations = Json::object(),
                 const Json& spec = Json::object()) {
    Json pod = {{"metadata", {{"name", name}, {"labels", {{"app", "web"}}}, {"annotations", annotations}}},
                {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
    pod["spec"].update(spec);
    Testbed::Must(bed_.Create("pods", "default", pod));
  }
  void Pass(api::Duration duration) { bed_.clock().Advance(duration); }
  void Rest() { bed_.clock().RunUntilIdle(5min); }

  std::vector<Json> Slices(const std::string& service = "web") {
    std::vector<Json> slices;
    for (const ObjectPtr& slice : bed_.List("endpointslices", "default"))
      if (const std::string* label = api::FindLabel(slice->header(), "kubernetes.io/service-name");
          label != nullptr && *label == service)
        slices.push_back(slice->Parse());
    return slices;
  }
  // "ready serving terminating" of each endpoint, by pod.
  std::map<std::string, std::string> Conditions() {
    std::map<std::string, std::string> out;
    for (const Json& slice : Slices())
      for (const Json& endpoint : api::ListAt(slice, "endpoints")) {
        std::string text;
        for (const char* condition : {"ready", "serving", "terminating"})
          if (api::BoolAt(endpoint, "conditions", condition))
            text += std::string(text.empty() ? "" : " ") + condition;
        out[std::string(api::StringAt(endpoint, "targetRef", "name"))] = text;
      }
    return out;
  }
  // The names of the pods in the Endpoints, ready or not.
  std::vector<std::string> InEndpoints(const char* list = "addresses") {
    std::vector<std::string> names;
    const ObjectPtr endpoints = bed_.Get("endpoints", "default", "web");
    const Json document = endpoints == nullptr ? Json() : endpoints->Parse();
    for (const Json& subset : api::ListAt(document, "subsets"))
      for (const Json& address : api::ListAt(subset, list))
        names.emplace_back(api::StringAt(address, "targetRef", "name"));
    return names;
  }
  std::vector<std::string> Events() {
    std::vector<std::string> texts;
    for (const testbed::EventView& event : bed_.Events("Service", "web"))
      texts.push_back(std::string(event.reason()) + ": " + std::string(event.message()));
    return texts;
  }

  Testbed bed_{{.nodes = 3}};
};

TEST_F(EndpointSlices, AServiceHasASliceAndEndpointsOfItsPods) {
  CreateService(Json::object(), {{"labels", {{"team", "a"}}}});
  CreatePod("web-a");
  Rest();
  const std::vector<Json> slices = Slices();
  ASSERT_THAT(slices, SizeIs(1));
  const Json& slice = slices[0];
  EXPECT_THAT(std::string(api::StringAt(slice, "metadata", "name")), testing::StartsWith("web-"));
  EXPECT_EQ(slice["metadata"]["labels"],
            Json({{"endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"},
                  {"kubernetes.io/service-name", "web"},
                  {"team", "a"}}));
  EXPECT_EQ(slice["metadata"]["ownerReferences"][0]["kind"], "Service");
  EXPECT_EQ(slice["addressType"], "IPv4");
  EXPECT_EQ(slice["ports"], Json::parse(R"([{"name":"http","port":8080,"protocol":"TCP"}])"));
  const Json pod = bed_.Get("pods", "default", "web-a")->Parse();
  const Json expected = {
      {"addresses", Json::array({pod["status"]["podIP"]})},
      {"conditions", {{"ready", true}, {"serving", true}, {"terminating", false}}},
      {"nodeName", pod["spec"]["nodeName"]},
      {"targetRef",
       {{"kind", "Pod"}, {"name", "web-a"}, {"namespace", "default"}, {"uid", pod["metadata"]["uid"]}}},
      {"zone", pod["metadata"]["labels"]["topology.kubernetes.io/zone"]}};
  EXPECT_EQ(slice["endpoints"], Json::array({expected}));
  EXPECT_THAT(InEndpoints(), ElementsAre("web-a"));
  const Json endpoints = bed_.Get("endpoints", "default", "web")->Parse();
  EXPECT_EQ(endpoints["metadata"]["labels"],
            Json({{"endpoints.kubernetes.io/managed-by", "endpoint-controller"}, {"team", "a"}}));
  EXPECT_EQ(endpoints["subsets"][0]["ports"], slice["ports"]);
}

TEST_F(EndpointSlices, ATerminatingPodServesUntilItIsGone) {
  CreateService();
  CreatePod("web-a", {{"terrarium.dev/stop-after", "20s"}});
  CreatePod("web-b");
  Rest();
  EXPECT_THAT(Conditions(),
              ElementsAre(std::pair("web-a", "ready serving"), std::pair("web-b", "ready serving")));
  Testbed::Must(bed_.Delete("pods", {"default", "web-a"}));
  Pass(2s);
  EXPECT_THAT(Conditions(),
              ElementsAre(std::pair("web-a", "serving terminating"), std::pair("web-b", "ready serving")));
  EXPECT_THAT(InEndpoints(), ElementsAre("web-b"));
  Pass(20s);
  EXPECT_THAT(Conditions(), ElementsAre(std::pair("web-b", "ready serving")));
}

TEST_F(EndpointSlices, APodThatIsNotReadyIsAnEndpointThatIsNot) {
  CreateService();
  CreatePod("web-a", {{"terrarium.dev/ready-delay", "10s"}});
  Pass(5s);
  EXPECT_THAT(Conditions(), ElementsAre(std::pair("web-a", "")));
  EXPECT_THAT(InEndpoints("notReadyAddresses"), ElementsAre("web-a"));
  Pass(10s);
  EXPECT_THAT(Conditions(), ElementsAre(std::pair("web-a", "ready serving")));
  const Json ready = api::ListAt(bed_.Get("pods", "default", "web-a")->Parse(), "status", "conditions");
  for (const Json& condition : ready) {
    if (condition["type"] != "Ready") continue;
    EXPECT_EQ(Slices()[0]["metadata"]["annotations"]["endpoints.kubernetes.io/last-change-trigger-time"],
              condition["lastTransitionTime"]);
  }
}

TEST_F(EndpointSlices, PublishNotReadyAddressesMakesAllReady) {
  CreateService({{"publishNotReadyAddresses", true}});
  CreatePod("web-a", {{"terrarium.dev/ready-delay", "10s"}});
  Pass(5s);
  EXPECT_THAT(Conditions(), ElementsAre(std::pair("web-a", "ready")));
  EXPECT_THAT(InEndpoints(), ElementsAre("web-a"));
}

TEST_F(EndpointSlices, AHeadlessServiceHasItsLabelAndHostnames) {
  CreateService({{"clusterIP", "None"}});
  CreatePod("web-0", Json::object(), {{"hostname", "web-0"}, {"subdomain", "web"}});
  CreatePod("web-1", Json::object(), {{"hostname", "web-1"}, {"subdomain", "other"}});
  Rest();
  ASSERT_THAT(Slices(), SizeIs(1));
  EXPECT_EQ(Slices()[0]["metadata"]["labels"]["service.kubernetes.io/headless"], "");
  std::vector<std::string> hostnames;
  const Json slice = Slices()[0];
  for (const Json& endpoint : slice.at("endpoints"))
    hostnames.emplace_back(api::StringAt(endpoint, "hostname"));
  EXPECT_THAT(hostnames, UnorderedElementsAre("web-0", ""));
  EXPECT_EQ(bed_.Get("endpoints", "default", "web")
                ->Parse()["metadata"]["labels"]["service.kubernetes.io/headless"],
            "");
}

TEST_F(EndpointSlices, AServiceWithoutPodsHasAnEmptySlice) {
  CreateService();
  Rest();
  ASSERT_THAT(Slices(), SizeIs(1));
  EXPECT_THAT(Slices()[0]["endpoints"], IsEmpty());
  EXPECT_NE(bed_.Get("endpoints", "default", "web"), nullptr);
  const std::vector<controllers::WhyRecord> why = bed_.why().Find("services", {"default", "web"});
  ASSERT_FALSE(why.empty());
  EXPECT_THAT(why[0].controller, HasSubstr("endpoint"));
}

TEST_F(EndpointSlices, ManyPodsHaveFewSlices) {
  CreateService();
  for (int i = 0; i < 250; ++i) CreatePod("web-" + std::to_string(i));
  Rest();
  std::vector<std::size_t> sizes;
  for (const Json& slice : Slices()) sizes.push_back(slice["endpoints"].size());
  EXPECT_THAT(Conditions(), SizeIs(250));
  EXPECT_LE(sizes.size(), 4u);
  EXPECT_THAT(InEndpoints(), SizeIs(250));
}

TEST_F(EndpointSlices, AServiceWithoutSelectorIsLeftAlone) {
  CreateService({{"selector", nullptr}});
  CreatePod("web-a");
  Rest();
  EXPECT_THAT(Slices(), IsEmpty());
  EXPECT_EQ(bed_.Get("endpoints", "default", "web"), nullptr);
}

TEST_F(EndpointSlices, EndpointsOfAServiceWithoutSelectorAreMirrored) {
  CreateService({{"selector", nullptr}});
  const Json subsets =
      Json::parse(R"([{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"name": "http", "port": 9}]}])");
  Testbed::Must(
      bed_.Create("endpoints", "default",
                  {{"metadata", {{"name", "web"}, {"labels", {{"a", "b"}}}}}, {"subsets", subsets}}));
  Rest();
  ASSERT_THAT(Slices(), SizeIs(1));
  const Json slice = Slices()[0];
  EXPECT_EQ(slice["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"],
            "endpointslicemirroring-controller.k8s.io");
  EXPECT_EQ(slice["metadata"]["labels"]["a"], "b");
  EXPECT_EQ(slice["metadata"]["ownerReferences"][0]["kind"], "Endpoints");
  EXPECT_EQ(slice["endpoints"][0]["addresses"][0], "10.1.2.3");
  EXPECT_EQ(slice["endpoints"][0]["conditions"], Json({{"ready", true}}));
  Testbed::Must(bed_.Patch("services", {"default", "web"}, {{"spec", {{"selector", {{"app", "none"}}}}}}));
  Rest();
  ASSERT_THAT(Slices(), SizeIs(1));
  EXPECT_EQ(Slices()[0]["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"],
            "endpointslice-controller.k8s.io");
}

TEST_F(EndpointSlices, ForeignChangesAreCorrectedAfterASecond) {
  CreateService();
  CreatePod("web-a");
  Rest();
  const std::string name(api::StringAt(Slices()[0], "metadata", "name"));
  Testbed::Must(bed_.Delete("endpointslices", {"default", name}));
  Testbed::Must(bed_.Delete("endpoints", {"default", "web"}));
  Pass(2s);
  ASSERT_THAT(Slices(), SizeIs(1));
  EXPECT_THAT(InEndpoints(), ElementsAre("web-a"));
  Json changed = Slices()[0];
  changed["endpoints"] = Json::array();
  Testbed::Must(bed_.Update("endpointslices", changed));
  Pass(2s);
  EXPECT_THAT(Conditions(), ElementsAre(std::pair("web-a", "ready serving")));
}

TEST_F(EndpointSlices, GoWithTheService) {
  CreateService();
  CreatePod("web-a");
  Rest();
  Testbed::Must(bed_.Delete("services", {"default", "web"}));
  Rest();
  EXPECT_THAT(Slices(), IsEmpty());
  EXPECT_EQ(bed_.Get("endpoints", "default", "web"), nullptr);
}

TEST_F(EndpointSlices, TheZoneOfTheNodeIsShownAndHinted) {
  for (const char* node : {"node-0", "node-1", "node-2"})
    Testbed::Must(bed_.Patch("nodes", {"", node},
                             {{"metadata", {{"labels", {{"topology.kubernetes.io/zone", node}}}}}}));
  CreateService({{"trafficDistribution", "PreferSameZone"}});
  CreatePod("web-a", Json::object(), {{"nodeName", "node-1"}});
  Rest();
  const Json endpoint = Slices()[0]["endpoints"][0];
  EXPECT_EQ(endpoint["zone"], "node-1");
  EXPECT_EQ(endpoint["hints"], Json({{"forZones", Json::array({{{"name", "node-1"}}})}}));
}

TEST_F(EndpointSlices, AutomaticHintsFollowTheNodes) {
  for (const char* node : {"node-0", "node-1", "node-2"})
    Testbed::Must(bed_.Patch("nodes", {"", node},
                             {{"metadata", {{"labels", {{"topology.kubernetes.io/zone", node}}}}}}));
  CreateService(Json::object(), {{"annotations", {{"service.kubernetes.io/topology-mode", "Auto"}}}});
  Rest();
  EXPECT_THAT(Events(),
              Contains("TopologyAwareHintsDisabled: Insufficient number of endpoints (0 endpoints, 3 "
                       "zones), addressType: IPv4"));
  for (int i = 0; i < 6; ++i) CreatePod("web-" + std::to_string(i), Json::object(), {{"nodeName", "node-0"}});
  Rest();
  EXPECT_THAT(Events(), Contains("TopologyAwareHintsEnabled: Topology Aware Hints has been enabled, "
                                 "addressType: IPv4"));
  std::map<std::string, int> hints;
  const Json slice = Slices()[0];
  for (const Json& endpoint : slice.at("endpoints"))
    ++hints[std::string(api::StringAt(endpoint["hints"]["forZones"][0], "name"))];
  EXPECT_THAT(hints, ElementsAre(std::pair("node-0", 2), std::pair("node-1", 2), std::pair("node-2", 2)));
}

TEST_F(EndpointSlices, TheServiceOfTheApiserverHasEndpoints) {
  EXPECT_EQ(bed_.Get("endpoints", "default", "kubernetes")->Parse()["subsets"][0]["ports"][0]["port"], 6443);
  const std::vector<Json> slices = Slices("kubernetes");
  ASSERT_THAT(slices, SizeIs(1));
  EXPECT_EQ(slices[0]["metadata"]["name"], "kubernetes");
  Rest();
  EXPECT_THAT(Slices("kubernetes"), SizeIs(1)) << "it is not mirrored";
}

TEST_F(EndpointSlices, RequestsForEndpointsAreWarnedOf) {
  apiserver::Request request;
  request.method = "GET";
  request.path = "/api/v1/namespaces/default/endpoints";
  EXPECT_THAT(bed_.Serve(std::move(request)).warnings,
              ElementsAre("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"));
}

TEST_F(EndpointSlices, MetricsHaveKubernetesNames) {
  CreateService({{"trafficDistribution", "PreferSameNode"}});
  CreatePod("web-a");
  Rest();
  apiserver::Request request;
  request.method = "GET";
  request.path = "/metrics";
  const std::string text = bed_.Serve(std::move(request)).body;
  for (const char* line :
       {"endpoint_slice_controller_changes{operation=\"create\"} 1",
        "endpoint_slice_controller_endpoints_desired 1", "endpoint_slice_controller_num_endpoint_slices 1",
        "endpoint_slice_controller_desired_endpoint_slices 1",
        "endpoint_slice_controller_services_count_by_traffic_distribution{traffic_distribution="
        "\"PreferSameNode\"} 1",
        "endpoint_slice_controller_syncs{result=\"success\"}",
        "endpoint_slice_controller_endpoints_added_per_sync_sum 1",
        "endpoint_slice_controller_endpointslices_changed_per_sync_count{topology=\"Disabled\"",
        "endpoint_slice_mirroring_controller_endpoints_sync_duration_count",
        "workqueue_adds_total{name=\"endpoint\"}"})
    EXPECT_THAT(text, HasSubstr(line));
}

}  // namespace
}  // namespace terrarium::controllers
