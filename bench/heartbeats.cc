// Measures how long a month of virtual time takes on idle nodes, and how much of it is heartbeats: 720 hours
// on 100 nodes in one advance, and six hours of which no occurrence is skipped. Also checks that a watch from
// before the month resumes after it.
//
//   terrarium_heartbeats_bench

#include <chrono>
#include <cstdio>
#include <memory>

#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "api/base/check.h"
#include "bench/live_cluster.h"
#include "testbed/control_plane/components.h"
#include "testbed/runtime/simulation.h"

namespace terrarium::bench {
namespace {

constexpr int kNodes = 100;
constexpr std::chrono::hours kMonth(720);
constexpr std::chrono::hours kCounted(6);

void Run() {
  spdlog::logger log("terrarium", std::make_shared<spdlog::sinks::null_sink_mt>());
  testbed::Simulation simulation(api::Time(std::chrono::seconds(1'767'225'600)), 1);
  testbed::ComponentOptions components;
  components.nodes.nodes = kNodes;
  auto control_plane = testbed::ControlPlane::Make(simulation.runtime(), log, {}, components);
  CHECK(control_plane.ok());
  storage::Store& store = (*control_plane)->store();
  simulation.clock().RunUntilIdle(std::chrono::minutes(1));
  const std::int64_t before = store.CurrentRevision();

  auto began = Steady::now();
  simulation.clock().Advance(kMonth);
  std::printf("%-34s %12.0f ms %12lld writes\n", "720 h on 100 idle nodes", SecondsSince(began) * 1e3,
              static_cast<long long>(store.CurrentRevision() - before));
  CHECK(store.StartWatch({.resource = "pods", .from_revision = before}).ok());
  CHECK(store.StartWatch({.resource = "nodes", .from_revision = before}).ok());

  began = Steady::now();
  const std::int64_t counted = store.CurrentRevision();
  auto hold = simulation.runtime().HoldSkips();
  simulation.clock().Advance(kCounted);
  std::printf("%-34s %12.0f ms %12lld writes\n", "6 h while a client watches them", SecondsSince(began) * 1e3,
              static_cast<long long>(store.CurrentRevision() - counted));
  CHECK(store.StartWatch({.resource = "pods", .from_revision = before}).ok());
  simulation.runtime().Shutdown();
}

}  // namespace
}  // namespace terrarium::bench

int main() { terrarium::bench::Run(); }
