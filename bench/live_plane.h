#pragma once

// What the benchmarks of the whole plane share: a plane on real threads with nodes that take pods, and a way to wait for
// events without a share in what is measured.

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
#include "testbed/plane.h"
#include "testbed/real_driver.h"
#include "testbed/real_runtime.h"
#include "testbed/runtime.h"

namespace terrarium::bench {

using Steady = std::chrono::steady_clock;
double SecondsSince(Steady::time_point start);

// What the store alone does: a pod is created, replaced three times and deleted, without apiserver and components. The
// floor under every figure about pods.
double StoreLivesPerSecond(api::Json pod, int pods);

// Cheap on purpose: whoever counts shares the cores with what is measured.
bool Says(const api::ObjectPtr& object, std::string_view text);

// Counts events of a resource, from every event of a watch.
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

// A plane in memory with all components, real clock, two threads. Constructed: its nodes take pods.
class LivePlane {
 public:
  explicit LivePlane(int nodes);
  ~LivePlane();

  storage::Store& store() { return plane_->store(); }
  // Answered before it returns or soon after; a refusal ends the process.
  void Write(api::WriteRequest request);

 private:
  spdlog::logger log_;
  testbed::RealClock clock_;
  testbed::Runtime runtime_;
  std::unique_ptr<testbed::Plane> plane_;
  std::unique_ptr<testbed::LiveDriver> driver_;
};

}  // namespace terrarium::bench
