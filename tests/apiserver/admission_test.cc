// What LimitRanges add to pods and refuse.

#include <gtest/gtest.h>

#include "apiserver/admission/internal/plugins.h"

namespace terrarium::apiserver::admission {
namespace {

Json LimitRange(Json item) { return {{"spec", {{"limits", Json::array({std::move(item)})}}}}; }

Json Pod(Json resources) {
  return {{"metadata", {{"name", "till"}}},
          {"spec", {{"containers", {{{"name", "drawer"}, {"resources", std::move(resources)}}}}}}};
}

struct Case {
  const char* name;
  Json item;
  Json resources;
  const char* why;
};

TEST(LimitRanger, RefusesWhatKubernetesRefuses) {
  const Json container = {{"type", "Container"}};
  auto with = [&](const char* list, Json amounts) {
    Json item = container;
    item[list] = std::move(amounts);
    return item;
  };
  const Case cases[] = {
      {"within the bounds", with("max", {{"cpu", "1"}}), {{"limits", {{"cpu", "1"}}}}, ""},
      {"no limit", with("max", {{"cpu", "1"}}), Json::object(),
       "maximum cpu usage per Container is 1.  No limit is specified"},
      {"no request", with("min", {{"cpu", "100m"}}), Json::object(),
       "minimum cpu usage per Container is 100m.  No request is specified"},
      {"request too small",
       with("min", {{"cpu", "100m"}}),
       {{"requests", {{"cpu", "50m"}}}},
       "minimum cpu usage per Container is 100m, but request is 50m"},
      {"ratio without a request",
       with("maxLimitRequestRatio", {{"cpu", "2"}}),
       {{"limits", {{"cpu", "1"}}}},
       "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0"},
      {"ratio too large",
       with("maxLimitRequestRatio", {{"cpu", "2"}}),
       {{"limits", {{"cpu", "1"}}}, {"requests", {{"cpu", "250m"}}}},
       "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000"},
      {"ratio just allowed",
       with("maxLimitRequestRatio", {{"cpu", "2"}}),
       {{"limits", {{"cpu", "1"}}}, {"requests", {{"cpu", "500m"}}}},
       ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(LimitRangeVerdict(LimitRange(c.item), true, Pod(c.resources)), c.why);
  }
}

TEST(LimitRanger, AddsUpContainersForThePod) {
  Json pod = Pod({{"limits", {{"memory", "600Mi"}}}});
  pod["spec"]["containers"].push_back(
      {{"name", "scale"}, {"resources", {{"limits", {{"memory", "600Mi"}}}}}});
  EXPECT_EQ(LimitRangeVerdict(LimitRange({{"type", "Pod"}, {"max", {{"memory", "1Gi"}}}}), true, pod),
            "maximum memory usage per Pod is 1Gi, but limit is 1200Mi");
}

TEST(LimitRanger, SetsOnlyWhatIsMissing) {
  Json pod = Pod({{"limits", {{"cpu", "1"}}}});
  ApplyLimitRangeDefaults(LimitRange({{"type", "Container"},
                                      {"default", {{"cpu", "2"}, {"memory", "1Gi"}}},
                                      {"defaultRequest", {{"cpu", "500m"}}}}),
                          pod);
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"],
            (Json{{"limits", {{"cpu", "1"}, {"memory", "1Gi"}}}, {"requests", {{"cpu", "500m"}}}}));
  EXPECT_EQ(pod["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
            "LimitRanger plugin set: cpu request for container drawer; memory limit for container drawer");
}

TEST(LimitRanger, LeavesAPodWithoutMissingAmountsAlone) {
  Json pod = Pod({{"limits", {{"cpu", "1"}}}, {"requests", {{"cpu", "1"}}}});
  const Json before = pod;
  ApplyLimitRangeDefaults(LimitRange({{"type", "Container"}, {"default", {{"cpu", "2"}}}}), pod);
  EXPECT_EQ(pod, before);
}

}  // namespace
}  // namespace terrarium::apiserver::admission
