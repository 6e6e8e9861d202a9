// Which slices a Service gets. The cases on packing follow TestReconcile... of
// k8s.io/endpointslice/reconciler_test.go in what they vary.

#include "controllers/endpoints/internal/service_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/controllers/endpoints/endpoints_testing.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;
using testing::ElementsAre;
using testing::IsEmpty;

SlicePlan Plan(const ServiceView& service, const ServicePods::Pods& pods, const Slices& existing) {
  return PlanSlices(service, pods, InZone, existing, "IPv4").slices;
}
Slices Build(const ServiceView& service, const ServicePods::Pods& pods, const Slices& existing = {}) {
  return Applied(Plan(service, pods, existing), existing, service);
}
std::size_t Writes(const SlicePlan& plan) {
  return plan.create.size() + plan.update.size() + plan.remove.size();
}

TEST(ServiceSlices, AServiceWithoutPodsHasAnEmptySlice) {
  const ServiceView service = MakeService();
  const Slices slices = Build(service, {});
  ASSERT_THAT(Sizes(slices), ElementsAre(0u));
  EXPECT_THAT(slices[0]->ports, IsEmpty());
  EXPECT_EQ(Writes(Plan(service, {}, slices)), 0u);
}

TEST(ServiceSlices, TheEmptySliceTakesTheFirstEndpoints) {
  const ServiceView service = MakeService();
  const Slices empty = Build(service, {});
  SlicePlan plan = Plan(service, MakePods(2), empty);
  ReplaceRemoved(plan, [](const Slice&) { return true; });
  ASSERT_EQ(plan.update.size(), 1u);
  EXPECT_EQ(plan.update[0].stored->name, empty[0]->name);
  EXPECT_EQ(Writes(plan), 1u);
}

TEST(ServiceSlices, AHundredEndpointsFillASlice) {
  const ServiceView service = MakeService();
  Slices slices = Build(service, MakePods(250));
  EXPECT_THAT(Sizes(slices), ElementsAre(100u, 100u, 50u));
  EXPECT_EQ(Writes(Plan(service, MakePods(250), slices)), 0u);
}

TEST(ServiceSlices, NewEndpointsGoIntoTheSliceThatTheyFillBest) {
  const ServiceView service = MakeService();
  const Slices slices = Build(service, MakePods(250));
  const SlicePlan plan = Plan(service, MakePods(270), slices);
  EXPECT_EQ(Writes(plan), 1u);
  EXPECT_THAT(Sizes(Applied(plan, slices, service)), ElementsAre(100u, 100u, 70u));
}

TEST(ServiceSlices, ASliceThatIsWrittenAnywayIsFilledFirst) {
  const ServiceView service = MakeService();
  const Slices slices = Build(service, MakePods(250));
  ServicePods::Pods pods = MakePods(265);
  for (int i = 0; i < 10; ++i) pods.erase(pods.begin());  // of the first slice
  const SlicePlan plan = Plan(service, pods, slices);
  EXPECT_THAT(Sizes(Applied(plan, slices, service)), ElementsAre(100u, 100u, 55u));
  EXPECT_EQ(plan.removed, 10);
  EXPECT_EQ(plan.added, 15);
}

TEST(ServiceSlices, ASliceWithoutEndpointsLeftIsDeleted) {
  const ServiceView service = MakeService();
  const Slices slices = Build(service, MakePods(150));
  const SlicePlan plan = Plan(service, MakePods(100), slices);
  EXPECT_EQ(plan.remove.size(), 1u);
  EXPECT_EQ(Writes(plan), 1u);
}

TEST(ServiceSlices, AnEndpointThatChangesStaysInItsSlice) {
  const ServiceView service = MakeService();
  const Slices slices = Build(service, MakePods(150));
  ServicePods::Pods pods = MakePods(150);
  pods["web-120"] = MakePod("web-120", {.ip = pods["web-120"]->ips[0], .ready = false});
  const SlicePlan plan = Plan(service, pods, slices);
  ASSERT_EQ(Writes(plan), 1u);
  EXPECT_EQ(plan.update[0].stored->name, "n1");
  EXPECT_EQ(plan.updated, 1);
}

TEST(ServiceSlices, PodsWithOtherPortNumbersHaveASliceOfTheirOwn) {
  const ServiceView service = MakeService(
      {{"ports", {{{"name", "http"}, {"port", 80}, {"protocol", "TCP"}, {"targetPort", "web"}}}}});
  ServicePods::Pods pods;
  pods["a"] = MakePod("a", {.ip = "10.244.0.1", .ports = {{"web", "TCP", 8080}}});
  pods["b"] = MakePod("b", {.ip = "10.244.0.2", .ports = {{"web", "TCP", 9090}}});
  pods["c"] = MakePod("c", {.ip = "10.244.0.3", .ports = {{"web", "UDP", 8080}}});
  const Slices slices = Build(service, pods);
  ASSERT_EQ(slices.size(), 3u);
  std::vector<std::string> texts;
  for (const SlicePtr& slice : slices)
    texts.push_back((slice->ports.empty() ? "none" : std::to_string(*slice->ports[0].port)) + " " +
                    slice->endpoints[0].target->name);
  EXPECT_THAT(texts, testing::UnorderedElementsAre("8080 a", "9090 b", "none c"));
}

TEST(ServiceSlices, ConditionsFollowReadinessAndDeletion) {
  auto conditions = [](const ServiceView& service, const PodOptions& options) {
    const Endpoint endpoint = EndpointOf(service, *MakePod("a", options), "z", "IPv4");
    return std::string(*endpoint.ready ? "ready " : "") + (*endpoint.serving ? "serving " : "") +
           (*endpoint.terminating ? "terminating" : "");
  };
  const ServiceView service = MakeService();
  EXPECT_EQ(conditions(service, {}), "ready serving ");
  EXPECT_EQ(conditions(service, {.ready = false}), "");
  EXPECT_EQ(conditions(service, {.deleting = true}), "serving terminating");
  EXPECT_EQ(conditions(service, {.ready = false, .deleting = true}), "terminating");
  const ServiceView all = MakeService({{"publishNotReadyAddresses", true}});
  EXPECT_EQ(conditions(all, {.ready = false}), "ready ");
  EXPECT_EQ(conditions(all, {.deleting = true}), "ready serving terminating");
}

TEST(ServiceSlices, APodWhoseNodeIsMissingIsLeftOut) {
  auto nowhere = [](const std::string&) -> std::optional<NodeZone> { return std::nullopt; };
  const ServicePlan plan = PlanSlices(MakeService(), MakePods(1), nowhere, {}, "IPv4");
  EXPECT_THAT(plan.without_node, ElementsAre("web-000"));
  ASSERT_EQ(plan.slices.create.size(), 1u);
  EXPECT_THAT(plan.slices.create[0].endpoints, IsEmpty());
  const ServiceView all = MakeService({{"publishNotReadyAddresses", true}});
  EXPECT_EQ(PlanSlices(all, MakePods(1), nowhere, {}, "IPv4").slices.create[0].endpoints.size(), 1u);
}

TEST(ServiceSlices, LabelsAreThoseOfTheService) {
  const ServiceView service = MakeService({{"clusterIP", "None"}}, {{"labels", {{"team", "a"}}}});
  const Slices slices = Build(service, MakePods(1));
  EXPECT_EQ(slices[0]->labels, (Labels{{"team", "a"},
                                       {kServiceNameLabel, "web"},
                                       {kSliceManagerLabel, kSliceManager},
                                       {kHeadlessLabel, ""}}));
  const ServiceView relabelled = MakeService({{"clusterIP", "None"}}, {{"labels", {{"team", "b"}}}});
  const SlicePlan plan = Plan(relabelled, MakePods(1), slices);
  ASSERT_EQ(plan.update.size(), 1u);
  EXPECT_EQ(plan.update[0].labels.at("team"), "b");
}

TEST(ServiceSlices, ASliceOfAnEarlierServiceOfTheNameIsDeleted) {
  const Slices slices = Build(MakeService(), MakePods(1));
  const ServiceView later = MakeService(Json::object(), {{"uid", "later"}});
  SlicePlan plan = Plan(later, MakePods(1), slices);
  ReplaceRemoved(plan, [](const Slice& slice) { return slice.IsOwnedBy("later", "Service"); });
  EXPECT_EQ(plan.remove.size(), 1u);
  EXPECT_EQ(plan.create.size(), 1u);
}

TEST(ServiceSlices, AddressesOfTheOtherFamilyAreLeftOut) {
  EXPECT_THAT(EndpointOf(MakeService(), *MakePod("a", {.ip = "fd00::1"}), "", "IPv4").addresses, IsEmpty());
  EXPECT_THAT(AddressTypesOf(MakeService({{"ipFamilies", Json::array({"IPv6", "IPv4"})}})),
              ElementsAre("IPv4", "IPv6"));
}

TEST(ServiceSlices, ALongNameLosesTheDash) {
  auto prefix = [](std::size_t length) {
    SliceOwner owner{.name = {"default", std::string(length, 'a')},
                     .resource = "services",
                     .kind = "Service",
                     .reference = Json::object()};
    return NewDocument(SliceDraft{}, owner)["metadata"]["generateName"].get<std::string>().back();
  };
  EXPECT_EQ(prefix(63), '-');
  EXPECT_EQ(prefix(253), 'a');
}

}  // namespace
}  // namespace terrarium::controllers::endpoints
