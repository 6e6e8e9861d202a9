#include "controllers/endpoints/internal/subsets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/endpoints/internal/endpoints_document.h"
#include "tests/controllers/endpoints/endpoints_testing.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Ips(const std::vector<Address>& addresses) {
  std::vector<std::string> ips;
  for (const Address& address : addresses) ips.push_back(address.ip);
  return ips;
}

Subset Of(std::vector<std::string> ready, std::vector<std::string> not_ready, Ports ports) {
  Subset subset{.ready = {}, .not_ready = {}, .ports = std::move(ports)};
  for (std::string& ip : ready)
    subset.ready.push_back({.ip = ip, .hostname = "", .node_name = {}, .target = {}});
  for (std::string& ip : not_ready)
    subset.not_ready.push_back({.ip = ip, .hostname = "", .node_name = {}, .target = {}});
  return subset;
}

const EndpointPort kHttp{"http", "TCP", 80, {}};
const EndpointPort kDns{"dns", "UDP", 53, {}};

TEST(Subsets, PortsOfTheSameAddressesAreInOneSubset) {
  const Subsets packed = Repack({Of({"10.0.0.2"}, {}, {kHttp}), Of({"10.0.0.1"}, {}, {kHttp}),
                                 Of({"10.0.0.1", "10.0.0.2"}, {}, {kDns})});
  ASSERT_EQ(packed.size(), 1u);
  EXPECT_THAT(Ips(packed[0].ready), ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_EQ(packed[0].ports.size(), 2u);
}

TEST(Subsets, AnAddressThatIsNotReadyOnceIsNotReady) {
  const Subsets packed = Repack({Of({"10.0.0.1"}, {}, {kHttp}), Of({}, {"10.0.0.1"}, {kHttp})});
  ASSERT_EQ(packed.size(), 1u);
  EXPECT_THAT(packed[0].ready, IsEmpty());
  EXPECT_THAT(Ips(packed[0].not_ready), ElementsAre("10.0.0.1"));
}

TEST(Subsets, TerminatingPodsAreLeftOut) {
  ServicePods::Pods pods;
  pods["a"] = MakePod("a", {.ip = "10.0.0.1"});
  pods["b"] = MakePod("b", {.ip = "10.0.0.2", .ready = false});
  pods["c"] = MakePod("c", {.ip = "10.0.0.3", .deleting = true});
  const Subsets subsets = SubsetsFor(MakeService(), pods);
  ASSERT_EQ(subsets.size(), 1u);
  EXPECT_THAT(Ips(subsets[0].ready), ElementsAre("10.0.0.1"));
  EXPECT_THAT(Ips(subsets[0].not_ready), ElementsAre("10.0.0.2"));
  EXPECT_THAT(Ips(SubsetsFor(MakeService({{"publishNotReadyAddresses", true}}), pods)[0].ready),
              ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3"));
}

TEST(Subsets, OnlyAHeadlessServiceHasAddressesWithoutPorts) {
  const Json no_ports = Json::array();
  EXPECT_EQ(SubsetsFor(MakeService({{"clusterIP", "None"}, {"ports", no_ports}}), MakePods(2)).size(), 1u);
  EXPECT_THAT(
      SubsetsFor(MakeService({{"ports", {{{"name", "x"}, {"protocol", "TCP"}, {"targetPort", "x"}}}}}),
                 MakePods(2)),
      IsEmpty());
}

TEST(Subsets, AreCutToAThousandAddressesReadyOnesFirst) {
  std::vector<std::string> ready(800, "a");
  std::vector<std::string> not_ready(300, "b");
  Subsets subsets = {Of(ready, not_ready, {kHttp})};
  EXPECT_TRUE(Truncate(subsets));
  EXPECT_EQ(subsets[0].ready.size(), 800u);
  EXPECT_EQ(subsets[0].not_ready.size(), 200u);
  EXPECT_FALSE(Truncate(subsets));
  Subsets two = {Of(std::vector<std::string>(900, "a"), not_ready, {kHttp}),
                 Of(std::vector<std::string>(300, "a"), {}, {kDns})};
  EXPECT_TRUE(Truncate(two));
  EXPECT_EQ(two[0].ready.size(), 750u);
  EXPECT_EQ(two[1].ready.size(), 250u);
  EXPECT_THAT(two[0].not_ready, IsEmpty());
}

TEST(EndpointsDocument, IsCurrentUntilSomethingChanges) {
  const ServiceView service = MakeService(Json::object(), {{"labels", {{"a", "b"}}}});
  const Subsets subsets = SubsetsFor(service, MakePods(2));
  Json document = EndpointsDocument(Json(), subsets, service, service.created);
  EXPECT_EQ(document["metadata"]["labels"],
            Json({{"a", "b"}, {"endpoints.kubernetes.io/managed-by", "endpoint-controller"}}));
  EXPECT_EQ(document["metadata"]["annotations"][kTriggerTime], "2026-01-01T00:00:00Z");
  EXPECT_TRUE(AreEndpointsCurrent(document, subsets, service));
  EXPECT_FALSE(AreEndpointsCurrent(document, subsets, MakeService()));
  EXPECT_FALSE(AreEndpointsCurrent(document, SubsetsFor(service, MakePods(3)), service));
  document["subsets"][0]["addresses"][0]["targetRef"]["resourceVersion"] = "7";
  EXPECT_TRUE(AreEndpointsCurrent(document, subsets, service));
}

TEST(EndpointsDocument, StatesThatAddressesWereCut) {
  const ServiceView service = MakeService();
  const Json document = EndpointsDocument(Json(), SubsetsFor(service, MakePods(1001)), service, std::nullopt);
  EXPECT_EQ(document["metadata"]["annotations"],
            Json({{"endpoints.kubernetes.io/over-capacity", "truncated"}}));
  EXPECT_EQ(document["subsets"][0]["addresses"].size(), 1000u);
  const Json after = EndpointsDocument(document, SubsetsFor(service, MakePods(1)), service, std::nullopt);
  EXPECT_EQ(after["metadata"].count("annotations"), 0u);
}

}  // namespace
}  // namespace terrarium::controllers::endpoints
