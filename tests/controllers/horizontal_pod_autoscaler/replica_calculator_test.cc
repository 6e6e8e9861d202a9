// Kubernetes' own tables (pkg/controller/podautoscaler/replica_calculator_test.go) have these situations.

#include "controllers/horizontal_pod_autoscaler/internal/replica_calculator.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::autoscaler {
namespace {

using namespace std::chrono_literals;

const api::Time kNow{std::chrono::seconds(1'767'225'600)};

class Calculator : public ::testing::Test {
 protected:
  Calculator() {
    measured_.resource = "cpu";
    measured_.now = kNow;
    measured_.current = 0;
  }

  // A pod that has been ready for long; a negative usage: it has no metrics.
  PodFacts& Pod(std::int64_t usage, std::int64_t request = 1000) {
    const std::string name = "p" + std::to_string(measured_.pods.size());
    measured_.pods.push_back({.name = name,
                              .phase = api::Phase::kRunning,
                              .started = kNow - 1h,
                              .ready = PodFacts::Readiness{false, kNow - 50min}});
    if (usage >= 0) measured_.metrics[name] = {kNow, 15s, usage};
    requests_[name] = request;
    ++measured_.current;
    return measured_.pods.back();
  }
  void Pods(std::initializer_list<std::int64_t> usages) {
    for (std::int64_t usage : usages) Pod(usage);
  }
  std::string Utilization(int target) {
    auto proposal = ReplicasForUtilization(measured_, requests_, target);
    if (!proposal) return proposal.status().message;
    return std::to_string(proposal->replicas) + " at " + std::to_string(*proposal->utilization) + "%";
  }
  std::string Average(std::int64_t target) {
    auto proposal = ReplicasForAverage(measured_, target);
    if (!proposal) return proposal.status().message;
    return std::to_string(proposal->replicas) + " at " + std::to_string(proposal->average);
  }

  Measurement measured_;
  PodRequests requests_;
};

TEST_F(Calculator, ScalesByTheRatioOfUsageToTarget) {
  Pods({300, 500, 700});
  EXPECT_EQ(Utilization(30), "5 at 50%");
  EXPECT_EQ(Utilization(100), "2 at 50%");
  EXPECT_EQ(Average(300), "5 at 500");
}

TEST_F(Calculator, ToleratesATenth) {
  Pods({500, 500});
  EXPECT_EQ(Utilization(46), "2 at 50%");
  EXPECT_EQ(Utilization(45), "3 at 50%");
  EXPECT_EQ(Utilization(55), "2 at 50%");
  EXPECT_EQ(Utilization(56), "2 at 50%");
  measured_.tolerances.up = 0;
  EXPECT_EQ(Utilization(46), "3 at 50%");
}

TEST_F(Calculator, CountsPodsWithoutMetricsAgainstAnyChange) {
  Pods({1000, -1, 1000});
  EXPECT_EQ(Utilization(50), "4 at 100%");  // the third as using nothing
  measured_.metrics["p0"].usage = measured_.metrics["p2"].usage = 100;
  EXPECT_EQ(Utilization(50), "3 at 10%");  // the third as using its whole request
  EXPECT_EQ(Utilization(90), "2 at 10%");
  EXPECT_EQ(Average(500), "2 at 100");  // the third as using the target
}

TEST_F(Calculator, CountsPodsThatAreNotReadyAsUsingNothingWhenItGrows) {
  Pods({600, 600});
  Pod(600).ready = PodFacts::Readiness{true, kNow - 1h};
  EXPECT_EQ(Utilization(30), "4 at 60%");
  EXPECT_EQ(Utilization(100), "2 at 60%");
}

TEST_F(Calculator, IgnoresTheUsageOfPodsThatStartUp) {
  Pods({100});
  PodFacts& young = Pod(1000);
  young.started = kNow - 1min;
  young.ready = PodFacts::Readiness{false, kNow - 10s};  // ready for less than a window
  EXPECT_EQ(Utilization(100), "1 at 10%");
  young.ready->since = kNow - 15s;
  EXPECT_EQ(Utilization(100), "2 at 55%");
  // Without readiness only within thirty seconds of the start, once five minutes have passed.
  young = {.name = young.name, .phase = api::Phase::kRunning, .started = kNow - 10min};
  young.ready = PodFacts::Readiness{true, kNow - 10min + 29s};
  EXPECT_EQ(Utilization(100), "1 at 10%");
  young.ready->since = kNow - 1min;
  EXPECT_EQ(Utilization(100), "2 at 55%");
  young.ready.reset();
  EXPECT_EQ(Utilization(100), "1 at 10%");
}

TEST_F(Calculator, CountsTheMemoryOfPodsThatAreNotReady) {
  measured_.resource = "memory";
  Pods({1000});
  Pod(1000).ready = PodFacts::Readiness{true, kNow - 1h};
  EXPECT_EQ(Utilization(50), "4 at 100%");
}

TEST_F(Calculator, IgnoresPodsThatEndAndWaitsForPendingOnes) {
  Pods({900});
  Pod(900).deleting = true;
  Pod(900).phase = api::Phase::kFailed;
  EXPECT_EQ(Utilization(45), "2 at 90%");
  Pod(-1).phase = api::Phase::kPending;
  EXPECT_EQ(Utilization(45), "4 at 90%");  // two pods, of which one uses nothing: within the tolerance
}

TEST_F(Calculator, ReportsWhyItCannotDecide) {
  EXPECT_EQ(Utilization(50), "no pods returned by selector while calculating replica count");
  Pod(100).deleting = true;
  EXPECT_EQ(Utilization(50), "did not receive metrics for targeted pods (pods might be unready)");
  requests_.clear();
  Pod(100);
  requests_.clear();
  EXPECT_EQ(Utilization(50), "no metrics returned matched known pods");
}

TEST_F(Calculator, BoundsItsNumbers) {
  Pod(std::numeric_limits<std::int64_t>::max(), 1);
  Pod(std::numeric_limits<std::int64_t>::max(), 1);
  EXPECT_EQ(Utilization(1), "2147483647 at 2147483647%");
  EXPECT_EQ(Average(1), "2147483647 at 9223372036854775807");
}

Json PodWith(const char* spec) { return {{"metadata", {{"name", "p"}}}, {"spec", Json::parse(spec)}}; }

TEST(RequestOf, SumsTheContainersThatRun) {
  const Json pod = PodWith(R"({"containers": [{"name": "a", "resources": {"requests": {"cpu": "100m"}}},
                                               {"name": "b", "resources": {"requests": {"cpu": "1"}}}],
                               "initContainers": [{"name": "i"},
                                                  {"name": "s", "restartPolicy": "Always",
                                                   "resources": {"requests": {"cpu": "10m"}}}]})");
  EXPECT_EQ(*RequestOf(pod, "cpu", ""), 1110);
  EXPECT_EQ(*RequestOf(pod, "cpu", "b"), 1000);
  EXPECT_EQ(RequestOf(pod, "cpu", "x").status().message, "container x not found in Pod p");
  EXPECT_EQ(RequestOf(pod, "memory", "").status().message,
            "missing request for memory in container a of Pod p");
}

TEST(RequestOf, PrefersThoseOfThePod) {
  const Json pod = PodWith(R"({"resources": {"requests": {"cpu": "2"}}, "containers": [{"name": "a"}]})");
  EXPECT_EQ(*RequestOf(pod, "cpu", ""), 2000);
  EXPECT_EQ(RequestOf(pod, "memory", "").status().message, "missing pod-level request for memory in Pod p");
}

TEST(PodMetricOf, SumsContainersOrTakesOne) {
  const Json metrics = Json::parse(R"({"timestamp": "2026-01-01T00:00:00Z", "window": "15s", "containers": [
      {"name": "a", "usage": {"cpu": "100m", "memory": "1Mi"}}, {"name": "b", "usage": {"cpu": "1"}}]})");
  EXPECT_EQ(PodMetricOf(metrics, "cpu", "")->usage, 1100);
  EXPECT_EQ(PodMetricOf(metrics, "cpu", "")->window, 15s);
  EXPECT_EQ(PodMetricOf(metrics, "cpu", "a")->usage, 100);
  EXPECT_EQ(PodMetricOf(metrics, "memory", ""), std::nullopt);
  EXPECT_EQ(PodMetricOf(metrics, "cpu", "c"), std::nullopt);
}

}  // namespace
}  // namespace terrarium::controllers::autoscaler
