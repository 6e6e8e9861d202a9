#include "controllers/endpoints/internal/mirrored_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/owner_references.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;
using testing::ElementsAre;
using testing::IsEmpty;

EndpointsView MakeEndpoints(const Json& subsets, const Json& metadata = Json::object()) {
  Json endpoints = {{"metadata", {{"name", "web"}, {"namespace", "default"}, {"uid", "eu"}}},
                    {"subsets", subsets}};
  endpoints["metadata"].update(metadata);
  return ReadEndpointsView(controllers_testing::MakeObject(endpoints));
}

Json Addresses(std::vector<std::string> ips) {
  Json list = Json::array();
  for (const std::string& ip : ips) list.push_back({{"ip", ip}});
  return list;
}

const Json kPorts = Json::array({{{"name", "http"}, {"port", 80}, {"protocol", "TCP"}}});

// What the drafts of a plan become.
Slices Stored(const MirrorPlan& plan, const EndpointsView& endpoints) {
  const SliceOwner owner{.name = {"default", "web"},
                         .resource = "endpoints",
                         .kind = "Endpoints",
                         .reference = ControllerReference(*endpoints.object, "v1", "Endpoints"),
                         .annotations = MirroredAnnotations(endpoints)};
  Slices slices;
  for (const SliceDraft& draft : plan.slices.create) {
    Json document = NewDocument(draft, owner);
    document["metadata"]["name"] = "web-" + draft.address_type;
    document["metadata"]["namespace"] = "default";
    slices.push_back(ReadSlice(controllers_testing::MakeObject(document, 5)));
  }
  return slices;
}

TEST(MirroredSlices, AddressesBecomeEndpointsByFamily) {
  const EndpointsView endpoints =
      MakeEndpoints(Json::array({{{"addresses", Addresses({"10.1.0.1", "fd00::1"})},
                                  {"notReadyAddresses", Addresses({"10.1.0.2"})},
                                  {"ports", kPorts}}}));
  const MirrorPlan plan = PlanMirror(endpoints, {});
  ASSERT_EQ(plan.slices.create.size(), 2u);
  const SliceDraft& v4 = plan.slices.create[0];
  EXPECT_EQ(v4.address_type, "IPv4");
  ASSERT_EQ(v4.endpoints.size(), 2u);
  EXPECT_EQ(v4.endpoints[0].ready, true);
  EXPECT_EQ(v4.endpoints[1].ready, false);
  EXPECT_EQ(v4.endpoints[1].serving, std::nullopt);
  EXPECT_EQ(v4.labels.at(kSliceManagerLabel), kMirroringManager);
  EXPECT_EQ(plan.slices.create[1].address_type, "IPv6");
}

TEST(MirroredSlices, NothingIsWrittenWithoutAChange) {
  const EndpointsView endpoints =
      MakeEndpoints(Json::array({{{"addresses", Addresses({"10.1.0.1"})}, {"ports", kPorts}}}),
                    {{"labels", {{"a", "b"}}}, {"annotations", {{"c", "d"}, {kTriggerTime, "t"}}}});
  const Slices slices = Stored(PlanMirror(endpoints, {}), endpoints);
  const MirrorPlan again = PlanMirror(endpoints, slices);
  EXPECT_TRUE(again.slices.create.empty() && again.slices.update.empty() && again.slices.remove.empty());
  const EndpointsView relabelled =
      MakeEndpoints(Json::array({{{"addresses", Addresses({"10.1.0.1"})}, {"ports", kPorts}}}));
  EXPECT_EQ(PlanMirror(relabelled, slices).slices.update.size(), 1u);
  EXPECT_THAT(PlanMirror(MakeEndpoints(Json::array()), slices).slices.remove, ElementsAre(slices[0]));
}

TEST(MirroredSlices, AtMostAThousandAddressesOfASubsetAreMirrored) {
  std::vector<std::string> ips;
  for (int i = 0; i < 1005; ++i)
    ips.push_back("10.1." + std::to_string(i / 200) + "." + std::to_string(i % 200 + 1));
  ips.push_back("not an address");
  const MirrorPlan plan =
      PlanMirror(MakeEndpoints(Json::array({{{"addresses", Addresses(ips)}, {"ports", kPorts}}})), {});
  ASSERT_EQ(plan.slices.create.size(), 1u);
  EXPECT_EQ(plan.slices.create[0].endpoints.size(), 1000u);
  EXPECT_EQ(plan.skipped, 6);
}

TEST(MirroredSlices, EndpointsCanBeExempt) {
  auto mirrored = [](const Json& metadata) {
    return IsMirrored(*MakeEndpoints(Json::array(), metadata).object);
  };
  EXPECT_TRUE(mirrored(Json::object()));
  EXPECT_FALSE(mirrored({{"labels", {{"endpointslice.kubernetes.io/skip-mirror", "true"}}}}));
  EXPECT_TRUE(mirrored({{"labels", {{"endpointslice.kubernetes.io/skip-mirror", "false"}}}}));
  EXPECT_FALSE(mirrored({{"annotations", {{"control-plane.alpha.kubernetes.io/leader", "{}"}}}}));
}

}  // namespace
}  // namespace terrarium::controllers::endpoints
