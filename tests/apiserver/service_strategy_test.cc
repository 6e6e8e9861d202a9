#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Kind;
using ::testing::StartsWith;
using testing::WithSpec;

Kind Service() { return Kind(ServiceStrategy(), "core.v1.Service"); }
constexpr const char* kPorts = R"("ports":[{"port":80}])";
constexpr const char* kSelector = R"("selector":{"app":"x"})";

TEST(ServiceStrategy, PlainServiceGetsAnAddressOfTheServiceRange) {
  const Json spec = Service().New(WithSpec({kPorts, kSelector}))["spec"];
  EXPECT_THAT(spec["clusterIP"].get<std::string>(),
              ::testing::MatchesRegex("10\\.(9[6-9]|10[0-9]|11[01])\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(spec["clusterIPs"], Json::array({spec["clusterIP"]}));
  EXPECT_EQ(spec["ipFamilies"], Json::array({"IPv4"}));
  EXPECT_EQ(spec["ipFamilyPolicy"], "SingleStack");
  EXPECT_EQ(spec["internalTrafficPolicy"], "Cluster");
  EXPECT_EQ(spec["sessionAffinity"], "None");
  EXPECT_EQ(spec["ports"], Json::parse(R"([{"port":80,"protocol":"TCP","targetPort":80}])"));
  EXPECT_THAT(Service().CreateErrors(WithSpec({kPorts, kSelector})), IsEmpty());
}

TEST(ServiceStrategy, AddressFollowsFromTheUid) {
  EXPECT_EQ(Service().New(WithSpec({kPorts}))["spec"]["clusterIP"],
            Service().New(WithSpec({kPorts}))["spec"]["clusterIP"]);
}

TEST(ServiceStrategy, HeadlessServicesHaveNoAddress) {
  const Json with_selector = Service().New(WithSpec({R"("clusterIP":"None")", kSelector}))["spec"];
  EXPECT_EQ(with_selector["clusterIPs"], Json::array({"None"}));
  EXPECT_EQ(with_selector["ipFamilies"], Json::array({"IPv4"}));
  const Json without = Service().New(WithSpec({R"("clusterIP":"None")"}))["spec"];
  EXPECT_EQ(without["ipFamilyPolicy"], "RequireDualStack");
  EXPECT_EQ(without["ipFamilies"], Json::array({"IPv4", "IPv6"}));
  EXPECT_THAT(Service().CreateErrors(WithSpec({R"("clusterIP":"None")"})), IsEmpty());
}

TEST(ServiceStrategy, ExternalNameHasNeitherAddressNorPolicy) {
  const std::string spec = WithSpec({R"("type":"ExternalName","externalName":"example.com.")"});
  const Json stored = Service().New(spec)["spec"];
  EXPECT_FALSE(stored.contains("clusterIP"));
  EXPECT_FALSE(stored.contains("ipFamilies"));
  EXPECT_FALSE(stored.contains("internalTrafficPolicy"));
  EXPECT_THAT(Service().CreateErrors(spec), IsEmpty());
  EXPECT_THAT(Service().CreateErrors(WithSpec({R"("type":"ExternalName")"})),
              ElementsAre("spec.externalName: Required value"));
}

TEST(ServiceStrategy, NodePortsAreDrawnOncePerPort) {
  const Json spec = Service().New(WithSpec(
      {R"("type":"NodePort","ports":[{"name":"t","port":53,"protocol":"TCP"},{"name":"u","port":53,"protocol":"UDP"},
                 {"name":"w","port":80}])"}))["spec"];
  const auto port = [&](std::size_t i) { return spec["ports"][i]["nodePort"].get<int>(); };
  EXPECT_EQ(port(0), port(1));
  EXPECT_NE(port(0), port(2));
  EXPECT_TRUE(port(2) >= 30000 && port(2) <= 32767);
  EXPECT_EQ(spec["externalTrafficPolicy"], "Cluster");
}

// The search for a free port once went on forever.
TEST(ServiceStrategy, MorePortsThanThereAreNodePortsAreRefused) {
  auto with_ports = [](const char* type, int count) {
    std::string ports;
    for (int i = 1; i <= count; ++i) {
      const std::string number = std::to_string(i);
      ports += (i > 1 ? "," : "") + ("{\"name\":\"p" + number + "\",\"port\":" + number + "}");
    }
    return WithSpec({R"("type":")" + std::string(type) + R"(","ports":[)" + ports + "]"});
  };
  EXPECT_THAT(Service().CreateErrors(with_ports("NodePort", 2768)), IsEmpty());
  EXPECT_EQ(Service().New(with_ports("NodePort", 2768))["spec"]["clusterIPs"].size(), 1U);
  for (const char* type : {"NodePort", "LoadBalancer"})
    EXPECT_THAT(
        Service().CreateErrors(with_ports(type, 2769)),
        ElementsAre("spec.ports[2768].nodePort: Internal error: failed to allocate a nodePort: range is "
                    "full"));
  EXPECT_THAT(Service().CreateErrors(with_ports("ClusterIP", 2769)), IsEmpty());
}

TEST(ServiceStrategy, PortRules) {
  EXPECT_THAT(Service().CreateErrors(WithSpec({kSelector})), ElementsAre("spec.ports: Required value"));
  EXPECT_THAT(
      Service().CreateErrors(WithSpec({R"("ports":[{"port":0},{"name":"b","port":80,"nodePort":31000}])"})),
      ElementsAre("spec.ports[0].name: Required value",
                  "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
                  "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
                  "spec.ports[1].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"));
  EXPECT_THAT(
      Service().CreateErrors(WithSpec({R"("ports":[{"name":"a","port":80},{"name":"b","port":80}])"})),
      ElementsAre(
          R"(spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,)"
          R"("TargetPort":0,"NodePort":0})"));
  EXPECT_THAT(
      Service().CreateErrors(WithSpec({R"("type":"NodePort","ports":[{"port":80,"nodePort":80}])"})),
      ElementsAre(
          "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of "
          "valid ports is 30000-32767"));
}

TEST(ServiceStrategy, AddressesMustBeAddressesOfAConfiguredFamily) {
  EXPECT_THAT(
      Service().CreateErrors(WithSpec({kPorts, R"("clusterIP":"nope")"})),
      ElementsAre(
          "spec.clusterIPs[0]: Invalid value: \"nope\": must be a valid IP address, (e.g. 10.9.8.7 or "
          "2001:db8::ffff)"));
  EXPECT_THAT(Service().CreateErrors(WithSpec({kPorts, R"("ipFamilies":["IPv6"])"})),
              ElementsAre("spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster"));
  EXPECT_THAT(
      Service().CreateErrors(WithSpec({kPorts, R"("ipFamilyPolicy":"RequireDualStack")"})),
      ElementsAre(
          "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for "
          "dual-stack services"));
}

TEST(ServiceStrategy, AddressIsKeptWhenLeftOutAndCannotChange) {
  const Json old = Service().New(WithSpec({kPorts}));
  const Json changed =
      Service().Changed(old, R"({"spec":{"clusterIP":null,"clusterIPs":null,"selector":{"a":"b"}}})");
  EXPECT_EQ(changed["spec"]["clusterIP"], old["spec"]["clusterIP"]);
  EXPECT_THAT(Service().UpdateErrors(old, R"({"spec":{"clusterIP":"10.96.0.99"}})"),
              ElementsAre(R"(spec.clusterIPs[0]: Invalid value: ["10.96.0.99"]: may not change once set)"));
}

TEST(ServiceStrategy, BecomingExternalNameDropsTheAddressAndBack) {
  const Json old = Service().New(WithSpec({kPorts}));
  const Json named = Service().Changed(old, R"({"spec":{"type":"ExternalName","externalName":"e.com"}})");
  EXPECT_FALSE(named["spec"].contains("clusterIP"));
  EXPECT_THAT(Service().UpdateErrors(old, R"({"spec":{"type":"ExternalName","externalName":"e.com"}})"),
              IsEmpty());
  const Json back = Service().Changed(named, R"({"spec":{"type":"ClusterIP","externalName":null}})");
  EXPECT_EQ(back["spec"]["clusterIP"], old["spec"]["clusterIP"]);
}

TEST(ServiceStrategy, TrafficPoliciesBelongToServicesSeenFromOutside) {
  EXPECT_THAT(
      Service().CreateErrors(WithSpec({kPorts, R"("externalTrafficPolicy":"Local")"})),
      ElementsAre(
          "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for externally-accessible "
          "services"));
  EXPECT_THAT(
      Service().CreateErrors(WithSpec({kPorts, R"("type":"LoadBalancer","externalTrafficPolicy":"Local")"})),
      IsEmpty());
}

TEST(ServiceStrategy, IngressIsForLoadBalancers) {
  const Json plain = Service().New(WithSpec({kPorts}));
  EXPECT_THAT(
      Service().StatusErrors(plain, R"({"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}})"),
      ElementsAre(
          "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"));
  const Json balancer = Service().New(WithSpec({kPorts, R"("type":"LoadBalancer")"}));
  EXPECT_THAT(Service().StatusErrors(
                  balancer, R"({"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"1.2.3.4"}]}})"),
              ElementsAre("status.loadBalancer.ingress[1].hostname: Invalid value: \"1.2.3.4\": must be a "
                          "DNS name, not an IP "
                          "address"));
}

}  // namespace
}  // namespace terrarium::apiserver
