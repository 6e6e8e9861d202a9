// A StatefulSet, a DaemonSet and many CronJobs, each with the whole cluster in memory and without artificial
// delays.
//
// - A StatefulSet with podManagementPolicy Parallel: from the request until all pods are ready.
// - A DaemonSet on as many nodes as pods: from the request until a pod is ready on every node.
// - CronJobs with a run an hour, spread over the minutes, for a day of a virtual clock. Their pods succeed
//   after a second. The nodes' heartbeats of the day are part of the time.
//
// The first two are on a real clock.
//
//   terrarium_sets_bench [REPLICAS NODES CRON_JOBS]        default: 500 5000 1000

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "api/base/check.h"
#include "api/json_access.h"
#include "api/write_request.h"
#include "bench/live_cluster.h"
#include "testbed/control_plane/components.h"
#include "testbed/runtime/simulation.h"

namespace terrarium::bench {
namespace {

using api::Json;

constexpr int kNodes = 10;
constexpr int kRuns = 3;  // the best of them filters out the noise of the machine

Json PodSpec() {
  return {{"containers",
           {{{"name", "main"},
             {"image", "registry.k8s.io/pause:3.9"},
             {"resources", {{"requests", {{"cpu", "10m"}, {"memory", "16Mi"}}}}}}}}};
}

Json Workload(Json spec) {
  spec["selector"] = {{"matchLabels", {{"app", "set"}}}};
  spec["template"] = {{"metadata", {{"labels", {{"app", "set"}}}}}, {"spec", PodSpec()}};
  return {{"metadata", {{"name", "set"}}}, {"spec", std::move(spec)}};
}

Json CronJob(int number) {
  Json pod = PodSpec();
  pod["restartPolicy"] = "Never";
  return {{"metadata", {{"name", "cron-" + std::to_string(number)}}},
          {"spec",
           {{"schedule", std::to_string(number % 60) + " * * * *"},
            {"jobTemplate", {{"spec", {{"template", {{"spec", std::move(pod)}}}}}}}}}};
}

// Seconds until the status counts `pods` ready pods in `field`.
double UntilReady(const char* resource, Json workload, const char* field, int pods, int nodes) {
  LiveCluster cluster(nodes);
  Counter done(cluster.store(), resource, [&](const storage::Event& event) {
    return api::IntAt(*event.object->Document(), 0, "status", field) == pods;
  });
  auto start = Steady::now();
  cluster.Write(api::RequestToCreate(resource, "default", std::move(workload)));
  done.WaitFor(1);
  return SecondsSince(start);
}

double StatefulSet(int replicas) {
  Json spec = {{"replicas", replicas}, {"podManagementPolicy", "Parallel"}, {"serviceName", "set"}};
  return UntilReady("statefulsets", Workload(std::move(spec)), "readyReplicas", replicas,
                    std::max(kNodes, replicas / 50));
}

double DaemonSet(int nodes) {
  return UntilReady("daemonsets", Workload(Json::object()), "numberReady", nodes, nodes);
}

double CronJobsForADay(int count) {
  spdlog::logger log("terrarium", std::make_shared<spdlog::sinks::null_sink_mt>());
  const api::Time start(std::chrono::seconds(1'767'225'600));
  testbed::Simulation simulation(start, 1);
  testbed::ComponentOptions components;
  components.nodes.nodes = kNodes;
  auto control_plane = testbed::ControlPlane::Make(simulation.runtime(), log, {}, components);
  CHECK(control_plane.ok());
  simulation.clock().RunUntilIdle(std::chrono::minutes(1));
  for (int number = 0; number < count; ++number)
    (*control_plane)
        ->handler()
        .Write(api::RequestToCreate("cronjobs", "default", CronJob(number)), {},
               [](api::Client::Written written) { CHECK(written.ok()); });
  auto began = Steady::now();
  simulation.clock().Advance(std::chrono::hours(24));
  const double seconds = SecondsSince(began);
  const api::ObjectPtr last =
      (*control_plane)->store().Get({"cronjobs", "default", "cron-" + std::to_string(count - 1)});
  CHECK(last != nullptr);
  CHECK(api::Find(*last->Document(), "status", "lastSuccessfulTime") != nullptr);
  simulation.runtime().Shutdown();
  return seconds;
}

template <typename Measure>
void Print(const char* what, int count, int pods, Measure measure) {
  double best = 1e9;
  for (int run = 0; run < kRuns; ++run) best = std::min(best, measure(count));
  std::printf("%-36s %8d %12.0f ms %12.0f us/pod\n", what, count, best * 1e3, best * 1e6 / pods);
  std::fflush(stdout);
}

void Run(int replicas, int nodes, int cron_jobs) {
  Print("replicas of a StatefulSet, Parallel", replicas, replicas, StatefulSet);
  Print("nodes with a DaemonSet", nodes, nodes, DaemonSet);
  Print("CronJobs, hourly, a virtual day", cron_jobs, cron_jobs * 24, CronJobsForADay);
}

}  // namespace
}  // namespace terrarium::bench

int main(int argc, char** argv) {
  const auto number = [&](int place, int standard) {
    return argc > place ? std::atoi(argv[place]) : standard;
  };
  terrarium::bench::Run(number(1, 500), number(2, 5000), number(3, 1000));
}
