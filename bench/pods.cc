// Pods from create to Running and from delete to gone, over in-process clients: the whole cluster with
// scheduler, kubelet and controllers, real clock, in memory. Printed beside the throughput of
// the store alone for as many writes of such pods.
//
//   terrarium_pods_bench [NODES [PODS...]]        default: 1000 nodes, 1000, 10000 and 50000 pods

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/live_cluster.h"

namespace terrarium::bench {
namespace {

using api::Json;

Json Pod(int number) {
  std::string name = "pod-" + std::to_string(number);
  return {{"metadata",
           {{"name", name},
            {"namespace", "default"},
            {"labels", {{"app", "bench"}, {"pod-template-hash", "7d4b9c8f6d"}}}}},
          {"spec",
           {{"containers",
             {{{"name", "web"},
               {"image", "registry.k8s.io/pause:3.10"},
               {"env", {{{"name", "POD_NUMBER"}, {"value", std::to_string(number)}}}},
               {"ports", {{{"containerPort", 8080}, {"name", "http"}}}},
               {"resources", {{"requests", {{"cpu", "10m"}, {"memory", "16Mi"}}}}}}}}}}};
}

bool BecameReady(const storage::Event& event) {
  constexpr std::string_view kRunning = R"("phase":"Running")";
  return event.type == storage::EventType::kModified && HasText(event.object, kRunning) &&
         !HasText(event.previous, kRunning);
}

// Pods in flight. More of them only make queues longer.
constexpr std::size_t kWindow = 200;

struct Rates {
  double to_running = 0;
  double to_gone = 0;
};

Rates Measure(LiveCluster& cluster, int pods) {
  Rates rates;
  auto start = Steady::now();
  {
    Counter running(cluster.store(), "pods", BecameReady);
    for (int i = 0; i < pods; ++i) {
      running.WaitFor(std::max<std::size_t>(i, kWindow) - kWindow);
      api::WriteRequest request;
      request.resource = "pods";
      request.object.ns = "default";
      request.body = Pod(i);
      cluster.Write(std::move(request));
    }
    running.WaitFor(static_cast<std::size_t>(pods));
  }
  rates.to_running = pods / SecondsSince(start);
  start = Steady::now();
  {
    Counter gone(cluster.store(), "pods",
                 [](const storage::Event& e) { return e.type == storage::EventType::kDeleted; });
    for (int i = 0; i < pods; ++i) {
      gone.WaitFor(std::max<std::size_t>(i, kWindow) - kWindow);
      api::WriteRequest request;
      request.verb = api::WriteRequest::Verb::kDelete;
      request.resource = "pods";
      request.object = {"default", "pod-" + std::to_string(i)};
      cluster.Write(std::move(request));
    }
    gone.WaitFor(static_cast<std::size_t>(pods));
  }
  rates.to_gone = pods / SecondsSince(start);
  return rates;
}

void Run(int nodes, const std::vector<int>& sizes) {
  std::printf("%-10s %16s %16s %14s %14s %22s\n", "pods", "to Running /s", "to gone /s", "us to Running",
              "us to gone", "of the store's lives");
  for (int pods : sizes) {
    Rates rates;
    {
      LiveCluster cluster(nodes);
      rates = Measure(cluster, pods);
    }
    double lives = StoreLivesPerSecond(Pod(0), pods);
    double both = 1 / (1 / rates.to_running + 1 / rates.to_gone);
    std::printf("%-10d %16.0f %16.0f %14.0f %14.0f %22.2f\n", pods, rates.to_running, rates.to_gone,
                1e6 / rates.to_running, 1e6 / rates.to_gone, both / lives);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace terrarium::bench

int main(int argc, char** argv) {
  int nodes = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::vector<int> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {1000, 10'000, 50'000};
  terrarium::bench::Run(nodes, sizes);
}
