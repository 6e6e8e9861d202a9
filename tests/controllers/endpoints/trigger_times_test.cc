#include "controllers/endpoints/internal/trigger_times.h"

#include <gtest/gtest.h>

#include "tests/controllers/endpoints/endpoints_testing.h"

namespace terrarium::controllers::endpoints {
namespace {

using namespace std::chrono_literals;

ServicePods::Pods PodsAt(std::vector<api::Time> times) {
  ServicePods::Pods pods;
  for (std::size_t i = 0; i < times.size(); ++i) {
    auto pod = std::make_shared<PodFacts>(*MakePod("p" + std::to_string(i)));
    pod->readiness_changed = times[i];
    pods[pod->name.name] = pod;
  }
  return pods;
}

TEST(TriggerTimes, AreThoseOfTheOldestChangeSinceTheLastSync) {
  const ServiceView service = MakeService();
  const api::Time start = service.created;
  TriggerTimes times;
  EXPECT_EQ(times.Next(service, PodsAt({start + 5s})), start) << "a new Service";
  EXPECT_EQ(times.Next(service, PodsAt({start + 5s})), std::nullopt);
  EXPECT_EQ(times.Next(service, PodsAt({start + 9s, start + 8s})), start + 8s);
  EXPECT_EQ(times.Next(service, PodsAt({start + 9s})), std::nullopt) << "a pod that is gone";
  times.Forget(service.name);
  EXPECT_EQ(times.Next(service, {}), start);
}

}  // namespace
}  // namespace terrarium::controllers::endpoints
