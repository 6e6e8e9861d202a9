// An indexed Job, 100 pods at a time, whose pods succeed at once, from the request to Complete: the whole plane with
// scheduler, kubelet and controllers, in memory, no artificial delay.
//
// The controller gathers what pods do for a second, so on a real clock a Job of many waves mostly waits. What the
// program does is measured on a virtual clock, where that second costs nothing: the real time that such a Job takes,
// per pod as well, as a multiple of what the store alone needs for the lives of as many pods, and beside what a pod
// costs in the first Job of the same run. The small one is then run on a real clock, too.
//
//   terrarium_jobs_bench [COMPLETIONS...]        default: 1000 and 10000; the best of several runs each

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "api/base/check.h"
#include "api/json_access.h"
#include "api/write_request.h"
#include "bench/live_plane.h"
#include "testbed/components.h"
#include "testbed/simulation.h"

namespace terrarium::bench {
namespace {

using api::Json;

constexpr int kParallelism = 100;
constexpr int kNodes = 10;
constexpr int kLiveCompletionsMax = 1000;

Json Job(int completions) {
  return {{"metadata", {{"name", "work"}}},
          {"spec",
           {{"completions", completions},
            {"parallelism", kParallelism},
            {"completionMode", "Indexed"},
            {"template",
             {{"metadata", {{"annotations", {{"terrarium.dev/exit-code", "0"}}}}},
              {"spec",
               {{"restartPolicy", "Never"},
                {"containers",
                 {{{"name", "work"},
                   {"image", "registry.k8s.io/pause:3.9"},
                   {"resources", {{"requests", {{"cpu", "10m"}, {"memory", "16Mi"}}}}}}}}}}}}}}};
}

bool IsComplete(const api::Object& job) {
  return api::Find(*job.Document(), "status", "completionTime") != nullptr;
}

struct Seconds {
  double real = 0;
  double on_the_clock = 0;
};

Seconds MeasureVirtual(int completions) {
  spdlog::logger log("terrarium", std::make_shared<spdlog::sinks::null_sink_mt>());
  const api::Time start(std::chrono::seconds(1'767'225'600));
  testbed::Simulation simulation(start, 1);
  testbed::ComponentOptions components;
  components.nodes.nodes = kNodes;
  auto plane = testbed::Plane::Make(simulation.runtime(), log, {}, components);
  CHECK(plane.ok());
  simulation.clock().RunUntilIdle(std::chrono::minutes(1));
  const api::Time created = simulation.runtime().Now();
  auto began = Steady::now();
  (*plane)->handler().Write(api::RequestToCreate("jobs", "default", Job(completions)), {},
                            [](api::Client::Written written) { CHECK(written.ok()); });
  simulation.clock().RunUntilIdle(std::chrono::hours(12));
  Seconds seconds{SecondsSince(began), std::chrono::duration<double>(simulation.runtime().Now() - created).count()};
  const api::ObjectPtr job = (*plane)->store().Get({"jobs", "default", "work"});
  CHECK(job != nullptr && IsComplete(*job));
  simulation.runtime().Shutdown();
  return seconds;
}

double MeasureLive(int completions) {
  LivePlane plane(kNodes);
  Counter done(plane.store(), "jobs", [](const storage::Event& event) { return IsComplete(*event.object); });
  auto start = Steady::now();
  plane.Write(api::RequestToCreate("jobs", "default", Job(completions)));
  done.WaitFor(1);
  return SecondsSince(start);
}

void Run(const std::vector<int>& sizes) {
  std::printf("%-12s %12s %12s %16s %16s %16s\n", "completions", "real ms", "us/pod", "store's lives", "of the first's",
              "virtual s");
  double first = 0;
  for (int completions : sizes) {
    Seconds best{1e9, 0};
    // The machine is noisy: the best of a few is what the program can do.
    for (int i = 0; i < (completions > 2000 ? 2 : 5); ++i) {
      Seconds seconds = MeasureVirtual(completions);
      if (seconds.real < best.real) best = seconds;
    }
    double per_pod = best.real / completions;
    if (first == 0) first = per_pod;
    Json pod = Job(1)["spec"]["template"];
    pod["metadata"]["namespace"] = "default";
    std::printf("%-12d %12.0f %12.0f %16.2f %16.2f %16.0f\n", completions, best.real * 1e3, per_pod * 1e6,
                per_pod * StoreLivesPerSecond(std::move(pod), completions), per_pod / first, best.on_the_clock);
    std::fflush(stdout);
  }
  for (int completions : sizes)
    if (completions <= kLiveCompletionsMax)
      std::printf("%-12d %12.0f ms on a real clock\n", completions, MeasureLive(completions) * 1e3);
}

}  // namespace
}  // namespace terrarium::bench

int main(int argc, char** argv) {
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {1000, 10'000};
  terrarium::bench::Run(sizes);
}
