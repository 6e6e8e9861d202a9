#include "kubelet-fake/scheduler/internal/resources.h"

#include <gtest/gtest.h>

#include "tests/kubelet-fake/scheduler/objects.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;

Json Container(const Json& requests) { return {{"resources", {{"requests", requests}}}}; }

Json Sidecar(const Json& requests) {
  Json out = Container(requests);
  out["restartPolicy"] = "Always";
  return out;
}

Json Spec(std::vector<Json> containers, std::vector<Json> init = {}) {
  return {{"containers", std::move(containers)}, {"initContainers", std::move(init)}};
}

struct RequestsCase {
  const char* name;
  Json spec;
  std::int64_t milli_cpu;
  std::int64_t memory;
};

TEST(Resources, RequestsAreTheMostThatAPodNeedsAtAnyTime) {
  const auto with = [](Json spec, const char* field, Json value) {
    spec[field] = std::move(value);
    return spec;
  };
  const Json one = Container({{"cpu", "100m"}, {"memory", "10"}});
  const RequestsCase cases[] = {
      {"nothing asked for", Spec({Json::object()}), 0, 0},
      {"containers add up", Spec({one, one, one}), 300, 30},
      {"a larger init container counts alone", Spec({one, one}, {Container({{"cpu", "1"}, {"memory", "1"}})}),
       1000, 20},
      {"of init containers the largest counts for each resource",
       Spec({one}, {Container({{"cpu", "2"}}), Container({{"memory", "50"}})}), 2000, 50},
      {"a sidecar runs beside the containers", Spec({one}, {Sidecar({{"cpu", "50m"}})}), 150, 10},
      {"a sidecar runs beside the init containers after it",
       Spec({one}, {Sidecar({{"cpu", "300m"}}), Container({{"cpu", "1"}})}), 1300, 10},
      {"a sidecar does not run beside the init containers before it",
       Spec({one}, {Container({{"cpu", "1"}}), Sidecar({{"cpu", "300m"}})}), 1000, 10},
      {"overhead comes on top", with(Spec({one}), "overhead", {{"cpu", "20m"}}), 120, 10},
      {"the pod's own requests stand for its containers'",
       with(Spec({one}), "resources", {{"requests", {{"cpu", "1"}}}}), 1000, 10},
      {"fractions are rounded up after adding",
       Spec({Container({{"memory", "500m"}}), Container({{"memory", "500m"}})}), 0, 1},
  };
  for (const RequestsCase& c : cases) {
    const PodRequests requests = RequestsOf(c.spec);
    EXPECT_EQ(requests.requests.milli_cpu, c.milli_cpu) << c.name;
    EXPECT_EQ(requests.requests.memory, c.memory) << c.name;
  }
}

TEST(Resources, ContainersThatAskForNothingStillCountForScoring) {
  const PodRequests two = RequestsOf(Spec({Json::object(), Container({{"cpu", "1"}})}));
  EXPECT_EQ(two.scoring_milli_cpu, 1100);
  EXPECT_EQ(two.scoring_memory, 2 * 200 * 1024 * 1024);

  Json spec = Spec({Json::object(), Json::object()});
  spec["resources"]["requests"]["cpu"] = "1";
  EXPECT_EQ(RequestsOf(spec).scoring_milli_cpu, 1000);
}

TEST(Resources, OnlyScalarsOfKnownFormsAreReckonedWith) {
  const Resources requests = RequestsOf(Spec({Container({{"nvidia.com/gpu", "2"},
                                                         {"hugepages-2Mi", "4Mi"},
                                                         {"requests.example.com/x", "1"},
                                                         {"example.com/none", "0"},
                                                         {"storage", "1"}})}))
                                 .requests;
  const std::vector<std::pair<std::string, std::int64_t>> expected = {{"hugepages-2Mi", 4 << 20},
                                                                      {"nvidia.com/gpu", 2}};
  EXPECT_EQ(requests.scalars, expected);
  EXPECT_EQ(requests.Scalar("nvidia.com/gpu"), 2);
  EXPECT_EQ(requests.Scalar("amd.com/gpu"), 0);
}

TEST(Resources, WhatIsAddedCanBeTakenAwayAgain) {
  const Resources gpu = {
      .milli_cpu = 5, .memory = 6, .ephemeral_storage = 7, .scalars = {{"nvidia.com/gpu", 1}}};
  const Resources fpga = {
      .milli_cpu = 1, .memory = 0, .ephemeral_storage = 0, .scalars = {{"intel.com/fpga", 2}}};
  Resources sum;
  sum.Add(gpu);
  sum.Add(fpga);
  sum.Add(gpu);
  EXPECT_EQ(sum.Scalar("nvidia.com/gpu"), 2);
  EXPECT_EQ(sum.milli_cpu, 11);
  sum.Subtract(gpu);
  sum.Subtract(fpga);
  EXPECT_EQ(sum, gpu);
  sum.Subtract(gpu);
  EXPECT_TRUE(sum.IsZero());
}

TEST(Resources, ANodeWithoutStatusHasRoomForNothing) {
  EXPECT_EQ(AllocatableOf(Json::object()), Allocatable());
  const Json node = NodeDocument("a");
  EXPECT_EQ(AllocatableOf(node["status"]).pods, 110);
  EXPECT_EQ(AllocatableOf(node["status"]).resources.milli_cpu, 4000);
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling
