// A Deployment created, then rolled to a new image, each from the request to the status for which `kubectl
// rollout status` reports success: the whole cluster with scheduler, kubelet and controllers, real
// clock, in memory, no artificial delay. Printed per pod as well, as a multiple of the time that the store
// alone needs for as many pods, and beside the time per pod in the first Deployment of the same run.
//
//   terrarium_rollouts_bench [REPLICAS...]        default: 500, 2000 and 10000; the best of several runs each

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "api/json_access.h"
#include "bench/live_cluster.h"

namespace terrarium::bench {
namespace {

using api::Json;

Json Deployment(int replicas) {
  return {{"metadata", {{"name", "web"}, {"namespace", "default"}}},
          {"spec",
           {{"replicas", replicas},
            {"selector", {{"matchLabels", {{"app", "web"}}}}},
            {"template",
             {{"metadata", {{"labels", {{"app", "web"}}}}},
              {"spec",
               {{"containers",
                 {{{"name", "web"},
                   {"image", "registry.k8s.io/pause:3.9"},
                   {"ports", {{{"containerPort", 8080}, {"name", "http"}}}},
                   {"resources", {{"requests", {{"cpu", "10m"}, {"memory", "16Mi"}}}}}}}}}}}}}}};
}

// The fields that kubectl's rollout status checks.
bool RolledOut(const storage::Event& event, int replicas, std::int64_t generation) {
  if (event.type == storage::EventType::kDeleted) return false;
  auto document = event.object->Document();
  const Json& status = api::ObjectAt(*document, "status");
  auto is = [&](const char* field) { return api::IntAt(status, 0, field) == replicas; };
  return api::IntAt(status, 0, "observedGeneration") >= generation && is("updatedReplicas") &&
         is("replicas") && is("availableReplicas");
}

struct Seconds {
  double created = 0;
  double rolled = 0;
};

Seconds Measure(int replicas) {
  LiveCluster cluster(std::max(10, replicas / 50));
  Seconds seconds;
  {
    Counter done(cluster.store(), "deployments",
                 [&](const storage::Event& e) { return RolledOut(e, replicas, 1); });
    auto start = Steady::now();
    api::WriteRequest request;
    request.resource = "deployments";
    request.object.ns = "default";
    request.body = Deployment(replicas);
    cluster.Write(std::move(request));
    done.WaitFor(1);
    seconds.created = SecondsSince(start);
  }
  {
    Counter done(cluster.store(), "deployments",
                 [&](const storage::Event& e) { return RolledOut(e, replicas, 2); });
    auto start = Steady::now();
    api::WriteRequest request;
    request.verb = api::WriteRequest::Verb::kPatch;
    request.resource = "deployments";
    request.object = {"default", "web"};
    request.body = {
        {"spec",
         {{"template",
           {{"spec", {{"containers", {{{"name", "web"}, {"image", "registry.k8s.io/pause:3.10"}}}}}}}}}}};
    cluster.Write(std::move(request));
    done.WaitFor(1);
    seconds.rolled = SecondsSince(start);
  }
  return seconds;
}

void Run(const std::vector<int>& sizes) {
  std::printf("%-10s %12s %12s %16s %16s %16s %16s\n", "replicas", "created ms", "rolled ms",
              "created us/pod", "rolled us/pod", "store's lives", "of the first's");
  double first = 0;
  for (int replicas : sizes) {
    Seconds best{1e9, 1e9};
    // The best of a few runs filters out the noise of the machine.
    for (int i = 0; i < (replicas > 2000 ? 2 : 5); ++i) {
      Seconds seconds = Measure(replicas);
      best.created = std::min(best.created, seconds.created);
      best.rolled = std::min(best.rolled, seconds.rolled);
    }
    double per_pod = (best.created + best.rolled) / replicas;
    if (first == 0) first = per_pod;
    Json pod = Deployment(1)["spec"]["template"];
    pod["metadata"]["namespace"] = "default";
    std::printf("%-10d %12.0f %12.0f %16.0f %16.0f %16.2f %16.2f\n", replicas, best.created * 1e3,
                best.rolled * 1e3, best.created * 1e6 / replicas, best.rolled * 1e6 / replicas,
                per_pod * StoreLivesPerSecond(std::move(pod), replicas), per_pod / first);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace terrarium::bench

int main(int argc, char** argv) {
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {500, 2000, 10'000};
  terrarium::bench::Run(sizes);
}
