// Pods from create to Running and from delete to gone, over in-process clients: the whole plane with scheduler, kubelet
// and controllers, real clock, in memory. Printed beside what the store alone does with as many writes of such pods.
//
//   terrarium_pods_bench [NODES [PODS...]]        default: 1000 nodes, 1000, 10000 and 50000 pods

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "api/base/check.h"
#include "api/json_access.h"
#include "apiserver/header.h"
#include "storage/memory_store.h"
#include "testbed/components.h"
#include "testbed/plane.h"
#include "testbed/real_runtime.h"

namespace terrarium::bench {
namespace {

using api::Json;
using testbed::Plane;
using Steady = std::chrono::steady_clock;

double SecondsSince(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

Json Pod(int number) {
  std::string name = "pod-" + std::to_string(number);
  return {{"metadata",
           {{"name", name}, {"namespace", "default"}, {"labels", {{"app", "bench"}, {"pod-template-hash", "7d4b9c8f6d"}}}}},
          {"spec",
           {{"containers",
             {{{"name", "web"},
               {"image", "registry.k8s.io/pause:3.10"},
               {"env", {{{"name", "POD_NUMBER"}, {"value", std::to_string(number)}}}},
               {"ports", {{{"containerPort", 8080}, {"name", "http"}}}},
               {"resources", {{"requests", {{"cpu", "10m"}, {"memory", "16Mi"}}}}}}}}}}};
}

// Counts the objects of a resource that came to be in a wanted state, from every event of a watch.
class Counter {
 public:
  using Wanted = std::function<bool(const storage::Event&)>;
  Counter(storage::Store& store, std::string resource, Wanted wanted) : wanted_(std::move(wanted)) {
    storage::WatchQuery query;
    query.resource = std::move(resource);
    query.from_revision = store.CurrentRevision();
    query.buffer_events = 10'000'000;
    watch_ = std::move(*store.StartWatch(query));
  }

  void WaitFor(std::size_t count) {
    while (count_ < count) {
      events_.clear();
      watch_->Take(4096, events_);
      for (const storage::Event& event : events_) count_ += wanted_(event) ? 1 : 0;
      // Looks now and then instead of being woken for every event: what is measured is not the waking of this thread.
      if (count_ < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  Wanted wanted_;
  std::unique_ptr<storage::Watch> watch_;
  std::vector<storage::Event> events_;
  std::size_t count_ = 0;
};

// Cheap on purpose: the counter shares the cores with what it measures.
bool Says(const api::ObjectPtr& object, std::string_view text) { return object->body().find(text) != std::string::npos; }

bool BecameReady(const storage::Event& event) {
  constexpr std::string_view kRunning = R"("phase":"Running")";
  return event.type == storage::EventType::kModified && Says(event.object, kRunning) && !Says(event.previous, kRunning);
}

bool BecameSchedulable(const storage::Event& event) {
  if (event.type == storage::EventType::kDeleted) return false;
  auto open = [](const api::ObjectPtr& node) { return node != nullptr && Says(node, "KubeletReady") && !Says(node, R"("taints")"); };
  return open(event.object) && !open(event.previous);
}

// Pods under way at a time: a client that runs further ahead makes nothing faster, only queues longer.
constexpr std::size_t kWindow = 200;

struct Rates {
  double to_running = 0;
  double to_gone = 0;
};

void Must(const api::Client::Written& written) {
  if (written.ok()) return;
  std::fprintf(stderr, "%s\n", written.status().message.c_str());
  std::exit(1);
}

Rates Measure(Plane& plane, int pods) {
  Rates rates;
  auto start = Steady::now();
  {
    Counter running(plane.store(), "pods", BecameReady);
    for (int i = 0; i < pods; ++i) {
      running.WaitFor(std::max<std::size_t>(i, kWindow) - kWindow);
      api::WriteRequest request;
      request.resource = "pods";
      request.object.ns = "default";
      request.body = Pod(i);
      plane.handler().Write(std::move(request), {}, Must);
    }
    running.WaitFor(static_cast<std::size_t>(pods));
  }
  rates.to_running = pods / SecondsSince(start);
  start = Steady::now();
  {
    Counter gone(plane.store(), "pods", [](const storage::Event& e) { return e.type == storage::EventType::kDeleted; });
    for (int i = 0; i < pods; ++i) {
      gone.WaitFor(std::max<std::size_t>(i, kWindow) - kWindow);
      api::WriteRequest request;
      request.verb = api::WriteRequest::Verb::kDelete;
      request.resource = "pods";
      request.object = {"default", "pod-" + std::to_string(i)};
      plane.handler().Write(std::move(request), {}, Must);
    }
    gone.WaitFor(static_cast<std::size_t>(pods));
  }
  rates.to_gone = pods / SecondsSince(start);
  return rates;
}

// What the store alone does: a pod is created, replaced three times and deleted, without apiserver and components.
double StoreLivesPerSecond(int pods) {
  auto store = storage::OpenMemoryStore();
  auto start = Steady::now();
  for (int i = 0; i < pods; ++i) {
    Json document = Pod(i);
    storage::ObjectKey key{"pods", "default", document["metadata"]["name"]};
    api::ObjectPtr stored;
    auto submit = [&](storage::Write::Op op) {
      api::ObjectPtr object = api::Object::Make(apiserver::DeriveHeaderOfStored("pods", document), document);
      store->Submit({op, key, stored == nullptr ? 0 : stored->revision(), object},
                    [&](storage::WriteOutcome outcome) { stored = outcome.object; });
    };
    submit(storage::Write::Op::kCreate);
    for (const char* phase : {"Pending", "Running", "Succeeded"}) {
      document["status"]["phase"] = phase;
      submit(storage::Write::Op::kUpdate);
    }
    submit(storage::Write::Op::kDelete);
  }
  return pods / SecondsSince(start);
}

void Run(int nodes, const std::vector<int>& sizes) {
  spdlog::logger log("bench", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  log.set_level(spdlog::level::warn);
  std::printf("%-10s %16s %16s %14s %14s %22s\n", "pods", "to Running /s", "to gone /s", "us to Running", "us to gone",
              "of the store's lives");
  for (int pods : sizes) {
    testbed::RealClock clock;
    testbed::Runtime runtime({.start = clock.Now(), .mode = {}, .wall = testbed::WallTime});
    testbed::ComponentOptions components;
    components.nodes.nodes = nodes;
    auto plane = Plane::Make(runtime, log, {}, components);
    CHECK(plane.ok());
    Counter open((*plane)->store(), "nodes", BecameSchedulable);
    testbed::LiveDriver driver(runtime, 2);
    open.WaitFor(static_cast<std::size_t>(nodes));
    Rates rates = Measure(**plane, pods);
    driver.Stop();
    double lives = StoreLivesPerSecond(pods);
    double both = 1 / (1 / rates.to_running + 1 / rates.to_gone);
    std::printf("%-10d %16.0f %16.0f %14.0f %14.0f %22.2f\n", pods, rates.to_running, rates.to_gone, 1e6 / rates.to_running,
                1e6 / rates.to_gone, both / lives);
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
