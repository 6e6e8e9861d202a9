// Many clusters in one process, on several threads in parallel: each has the same history as alone.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/sim/history.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;

constexpr const char* kManifests = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {terrarium.dev/stop-after: 7s}}
    spec: {containers: [{name: c, image: 'web:1'}], terminationGracePeriodSeconds: 20}
---
apiVersion: batch/v1
kind: Job
metadata: {name: sums}
spec:
  completions: 4
  parallelism: 2
  completionMode: Indexed
  podReplacementPolicy: Failed
  template:
    metadata: {annotations: {terrarium.dev/run-for: 15s}}
    spec: {restartPolicy: Never, containers: [{name: c, image: sums}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
)";

void Drive(Testbed& bed) {
  bed.Must(bed.Apply(kManifests));
  bed.clock().Advance(10s);
  // A rollout, with labels that no other cluster has, and various reads in between.
  std::string revision = bed.Deployment("web").uid();
  bed.Must(bed.Patch("deployments", {"default", "web"},
                     {{"spec", {{"template", {{"metadata", {{"labels", {{"of-" + revision, "x"}}}}}}}}}}));
  bed.clock().Advance(20s);
  for (const char* path : {"/openapi/v2", "/metrics", "/api/v1/pods"}) {
    apiserver::Request request;
    request.method = "GET";
    request.path = path;
    bed.Serve(std::move(request));
  }
  bed.timeline().Text({.before = 20});
  for (const PodView& pod : bed.Pods("app=web")) bed.Evict({pod.ns(), pod.name()}).ok();
  bed.clock().RunUntilIdle(10min);
  bed.Must(bed.Delete("deployments", {"default", "web"}, {.propagation_policy = "Foreground"}));
  bed.clock().RunUntilIdle(10min);
}

std::vector<TestbedOptions> Variants() {
  std::vector<TestbedOptions> out;
  for (std::uint64_t seed : {1, 2, 3})
    for (const char* gates :
         {"", "DeploymentReplicaSetTerminatingReplicas=true,DeploymentPodReplacementPolicy=true",
          "JobPodReplacementPolicy=false,PodDeletionCost=false"})
      out.push_back({.seed = seed, .feature_gates = gates, .nodes = static_cast<int>(seed)});
  return out;
}

// The first test of the program, so that clusters also race for static objects that are initialised on first
// use.
TEST(ParallelClusters, EachHasTheHistoryThatItHasAlone) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kRounds = 2;
  const std::vector<TestbedOptions> variants = Variants();
  std::vector<std::vector<std::string>> together(variants.size() * kRounds);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (std::size_t turn = next++; turn < together.size(); turn = next++)
        together[turn] = HistoryOf(variants[turn % variants.size()], Drive);
    });
  for (std::thread& thread : threads) thread.join();

  for (std::size_t i = 0; i < variants.size(); ++i) {
    std::vector<std::string> alone = HistoryOf(variants[i], Drive);
    ASSERT_GT(alone.size(), 100u);
    for (std::size_t round = 0; round < kRounds; ++round) {
      const std::vector<std::string>& history = together[round * variants.size() + i];
      ASSERT_EQ(history.size(), alone.size()) << "variant " << i;
      for (std::size_t at = 0; at < alone.size(); ++at)
        ASSERT_EQ(history[at], alone[at]) << "the first difference of variant " << i;
    }
  }
}

// Clusters stand still while others run, and several threads may use one in turn.
TEST(ParallelClusters, AreDrivenInTurnsWithoutNoticing) {
  std::vector<std::string> alone = HistoryOf({.seed = 5}, Drive);
  Testbed other({.seed = 6, .nodes = 1});
  std::vector<std::string> history = HistoryOf({.seed = 5}, [&other](Testbed& bed) {
    std::thread beside([&other] { Drive(other); });
    Drive(bed);
    beside.join();
  });
  EXPECT_EQ(history, alone);
}

}  // namespace
}  // namespace terrarium::testbed
