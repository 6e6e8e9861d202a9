// How long does it take to drain a node under a disruption budget when every pod takes 20 minutes to stop?
// The virtual clock makes the answer immediate.

#include <chrono>
#include <cstdio>
#include <string>

#include <terrarium/testbed.h>

using namespace std::chrono_literals;

int main() {
  terrarium::Testbed bed({.nodes = 2});
  bed.Must(bed.Apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {terrarium.dev/stop-after: 20m}
    spec:
      terminationGracePeriodSeconds: 3600
      containers: [{name: c, image: web}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
)"));
  bed.Must(bed.WaitFor("deployments", {"default", "web"}, "condition=Available", 5min));
  bed.clock().RunUntilIdle(1min);

  bed.Must(bed.Patch("nodes", {"", "node-0"}, {{"spec", {{"unschedulable", true}}}}));
  auto begin = bed.Now();
  int left = 0;
  do {
    left = 0;
    for (const terrarium::PodView& pod : bed.Pods("app=web")) {
      if (pod.node() != "node-0") continue;
      ++left;
      // Like kubectl drain: an eviction that the budget refuses is retried after five seconds.
      if (!pod.deleting()) bed.Evict({pod.ns(), pod.name()}).ok();
    }
    bed.clock().Advance(5s);
  } while (left > 0 && bed.Now() - begin < 24h);

  std::string took = terrarium::api::FormatDuration(bed.Now() - begin);
  std::printf("node-0 is empty after %s\n", took.c_str());
  return left == 0 ? 0 : 1;
}
