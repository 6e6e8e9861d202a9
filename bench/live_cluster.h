#pragma once

// Shared by the benchmarks of the whole cluster: a cluster on real threads with schedulable nodes, and a way
// to wait for events that adds little to the measured work.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/logger.h>

#include "api/client.h"
#include "api/json.h"
#include "storage/store.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/runtime/real_driver.h"
#include "testbed/runtime/real_runtime.h"
#include "testbed/runtime/runtime.h"

namespace terrarium::bench {

using Steady = std::chrono::steady_clock;
double SecondsSince(Steady::time_point start);

// The number of pod lives per second of the store alone, without apiserver and components: each pod is
// created, replaced three times and deleted. This is the lower bound for the cost of a pod.
double StoreLivesPerSecond(api::Json pod, int pods);

// Whether the serialized object contains `text`. Cheap on purpose: the counting thread shares the cores with
// the measured work.
bool HasText(const api::ObjectPtr& object, std::string_view text);

// Counts the wanted events of a resource through a watch.
class Counter {
 public:
  using Wanted = std::function<bool(const storage::Event&)>;
  Counter(storage::Store& store, std::string resource, Wanted wanted);
  void WaitFor(std::size_t count);

 private:
  Wanted wanted_;
  std::unique_ptr<storage::Watch> watch_;
  std::vector<storage::Event> events_;
  std::size_t count_ = 0;
};

// A cluster in memory with all components, a real clock and two threads. Its nodes are schedulable once the
// constructor returns.
class LiveCluster {
 public:
  explicit LiveCluster(int nodes);
  ~LiveCluster();

  storage::Store& store() { return control_plane_->store(); }
  // The response comes before this returns or soon after. An error response ends the process.
  void Write(api::WriteRequest request);

 private:
  spdlog::logger log_;
  testbed::RealClock clock_;
  testbed::Runtime runtime_;
  std::unique_ptr<testbed::ControlPlane> control_plane_;
  std::unique_ptr<testbed::LiveDriver> driver_;
};

}  // namespace terrarium::bench
