#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/endpoints/internal/traffic_hints.h"
#include "controllers/endpoints/internal/zone_hints.h"
#include "tests/controllers/endpoints/endpoints_testing.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

api::ObjectPtr Node(const char* name, const char* zone, const char* cpu, bool ready = true) {
  Json node = {{"metadata", {{"name", name}}},
               {"status",
                {{"allocatable", {{"cpu", cpu}}},
                 {"conditions", {{{"type", "Ready"}, {"status", ready ? "True" : "False"}}}}}}};
  if (zone != nullptr) node["metadata"]["labels"] = {{"topology.kubernetes.io/zone", zone}};
  return controllers_testing::MakeObject(node);
}

// The zone of a node is its name.
std::optional<NodeZone> OwnZone(const std::string& node) { return NodeZone{node}; }

// `counts[i]` pods on the node and in the zone "a", "b", ...
ServicePods::Pods PodsIn(std::vector<int> counts) {
  ServicePods::Pods pods;
  int number = 0;
  for (std::size_t zone = 0; zone < counts.size(); ++zone)
    for (int i = 0; i < counts[zone]; ++i) {
      const std::string name = "p" + std::to_string(number++);
      pods[name] = MakePod(name, {.ip = "10.244.0." + std::to_string(number),
                                  .node = std::string(1, static_cast<char>('a' + zone))});
    }
  return pods;
}

SlicePlan PlanIn(const ServiceView& service, const ServicePods::Pods& pods, const Slices& existing = {}) {
  return PlanSlices(service, pods, OwnZone, existing, "IPv4").slices;
}

// How many endpoints have the hint of each zone.
std::map<std::string, int> HintsOf(const SlicePlan& plan) {
  std::map<std::string, int> hints;
  for (const std::vector<SliceDraft>* drafts : {&plan.create, &plan.update})
    for (const SliceDraft& draft : *drafts)
      for (const Endpoint& endpoint : draft.endpoints)
        ++hints[endpoint.hints ? endpoint.hints->zones.at(0) : "none"];
  return hints;
}

TEST(TrafficHints, PreferSameZoneNamesTheZoneOfEachReadyEndpoint) {
  for (const char* value : {"PreferSameZone", "PreferClose"}) {
    const ServiceView service = MakeService({{"trafficDistribution", value}});
    ASSERT_TRUE(UsesTrafficDistribution(service));
    ServicePods::Pods pods = PodsIn({1, 1});
    pods["p1"] = MakePod("p1", {.ip = "10.244.0.9", .node = "b", .ready = false});
    SlicePlan plan = PlanIn(service, pods);
    AssignTrafficHints(service, {}, plan);
    EXPECT_THAT(HintsOf(plan), UnorderedElementsAre(std::pair("a", 1), std::pair("none", 1)));
  }
}

TEST(TrafficHints, PreferSameNodeNamesTheNodeToo) {
  const ServiceView service = MakeService({{"trafficDistribution", "PreferSameNode"}});
  SlicePlan plan = PlanIn(service, PodsIn({1}));
  AssignTrafficHints(service, {}, plan);
  EXPECT_EQ(plan.create[0].endpoints[0].hints, (Hints{{"a"}, {"a"}}));
}

TEST(TrafficHints, AreWrittenWhenTheServiceChangesAndRemovedAfterwards) {
  const ServiceView plain = MakeService();
  const Slices slices = Applied(PlanIn(plain, PodsIn({2})), {}, plain);
  const ServiceView service = MakeService({{"trafficDistribution", "PreferSameZone"}});
  SlicePlan plan = PlanIn(service, PodsIn({2}), slices);
  AssignTrafficHints(service, slices, plan);
  ASSERT_EQ(plan.update.size(), 1u);
  const Slices hinted = Applied(plan, slices, service);
  SlicePlan again = PlanIn(service, PodsIn({2}), hinted);
  AssignTrafficHints(service, hinted, again);
  EXPECT_THAT(again.update, IsEmpty());
  SlicePlan removing = PlanIn(plain, PodsIn({2}), hinted);
  RemoveHints(hinted, removing);
  EXPECT_THAT(HintsOf(removing), ElementsAre(std::pair("none", 2)));
}

TEST(TrafficHints, TheAnnotationForAutomaticHintsWins) {
  EXPECT_FALSE(UsesTrafficDistribution(
      MakeService({{"trafficDistribution", "PreferSameZone"}},
                  {{"annotations", {{"service.kubernetes.io/topology-mode", "Auto"}}}})));
}

TEST(ZoneRatios, FollowTheProcessorsOfReadyNodes) {
  EXPECT_THAT(ZoneRatiosOf({Node("1", "a", "1"), Node("2", "a", "2"), Node("3", "b", "1"),
                            Node("4", "b", "8", false)}),
              ElementsAre(std::pair("a", 0.75), std::pair("b", 0.25)));
  EXPECT_THAT(ZoneRatiosOf({Node("1", "a", "1"), Node("2", "a", "1")}), IsEmpty()) << "one zone";
  EXPECT_THAT(ZoneRatiosOf({Node("1", "a", "1"), Node("2", nullptr, "1")}), IsEmpty()) << "no zone";
  EXPECT_THAT(ZoneRatiosOf({Node("1", "a", "1"), Node("2", "b", "0")}), IsEmpty()) << "no processors";
}

class ZoneHintsTest : public testing::Test {
 protected:
  std::vector<std::string> Assign(SlicePlan& plan, const Slices& existing = {}) {
    std::vector<std::string> texts;
    for (const HintEvent& event : hints_.Assign(kWeb, "IPv4", existing, plan))
      texts.push_back(event.reason + ": " + event.message);
    return texts;
  }
  const api::ObjectName kWeb{"default", "web"};
  const ServiceView service_ =
      MakeService(Json::object(), {{"annotations", {{"service.kubernetes.io/topology-mode", "Auto"}}}});
  ZoneHints hints_;
};

TEST_F(ZoneHintsTest, EachZoneGetsItsShare) {
  hints_.SetRatios({{"a", 0.5}, {"b", 0.5}});
  SlicePlan plan = PlanIn(service_, PodsIn({8, 2}));
  EXPECT_THAT(Assign(plan), ElementsAre("TopologyAwareHintsEnabled: Topology Aware Hints has been enabled, "
                                        "addressType: IPv4"));
  EXPECT_THAT(HintsOf(plan), ElementsAre(std::pair("a", 5), std::pair("b", 5)));
  EXPECT_TRUE(hints_.IsAssigned(kWeb));
  EXPECT_THAT(Assign(plan), IsEmpty()) << "enabled before";
  EXPECT_THAT(hints_.Overloaded(), IsEmpty());
  hints_.SetRatios({{"a", 0.9}, {"b", 0.1}});
  EXPECT_THAT(hints_.Overloaded(), ElementsAre(kWeb));
}

TEST_F(ZoneHintsTest, AreUnchangedWhileTheyFit) {
  hints_.SetRatios({{"a", 0.5}, {"b", 0.5}});
  SlicePlan plan = PlanIn(service_, PodsIn({2, 2}));
  Assign(plan);
  const Slices slices = Applied(plan, {}, service_);
  SlicePlan again = PlanIn(service_, PodsIn({2, 2}), slices);
  Assign(again, slices);
  EXPECT_THAT(again.update, IsEmpty());
}

TEST_F(ZoneHintsTest, AreRemovedWithTheReason) {
  SlicePlan plan = PlanIn(service_, PodsIn({1, 1}));
  EXPECT_THAT(
      Assign(plan),
      ElementsAre("TopologyAwareHintsDisabled: Insufficient Node information: allocatable CPU or zone "
                  "not specified on one or more nodes, addressType: IPv4"));
  hints_.SetRatios({{"a", 0.5}, {"b", 0.5}});
  SlicePlan small = PlanIn(service_, PodsIn({1}));
  EXPECT_THAT(Assign(small), ElementsAre("TopologyAwareHintsDisabled: Insufficient number of endpoints (1 "
                                         "endpoints, 2 zones), addressType: IPv4"));
  hints_.SetRatios({{"a", 0.34}, {"b", 0.33}, {"c", 0.33}});
  SlicePlan uneven = PlanIn(service_, PodsIn({2, 1, 1}));
  EXPECT_THAT(Assign(uneven),
              ElementsAre("TopologyAwareHintsDisabled: Unable to allocate minimum required endpoints to each "
                          "zone without exceeding overload threshold (4 endpoints, 3 zones), addressType: "
                          "IPv4"));
  EXPECT_FALSE(hints_.IsAssigned(kWeb));
  hints_.SetRatios({{"a", 0.5}, {"b", 0.5}});
  SlicePlan nowhere =
      PlanSlices(
          service_, PodsIn({1, 1}), [](const std::string&) { return NodeZone{""}; }, {}, "IPv4")
          .slices;
  EXPECT_THAT(Assign(nowhere), ElementsAre("TopologyAwareHintsDisabled: One or more endpoints do not have a "
                                           "zone specified, addressType: IPv4"));
}

}  // namespace
}  // namespace terrarium::controllers::endpoints
