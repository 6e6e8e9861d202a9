#include "bench/live_cluster.h"

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include <spdlog/sinks/stdout_sinks.h>

#include "api/base/check.h"
#include "apiserver/header.h"
#include "storage/memory_store.h"
#include "testbed/control_plane/components.h"

namespace terrarium::bench {
namespace {

bool BecameSchedulable(const storage::Event& event) {
  if (event.type == storage::EventType::kDeleted) return false;
  auto open = [](const api::ObjectPtr& node) {
    return node != nullptr && HasText(node, "KubeletReady") && !HasText(node, R"("taints")");
  };
  return open(event.object) && !open(event.previous);
}

void Must(const api::Client::Written& written) {
  if (written.ok()) return;
  std::fprintf(stderr, "%s\n", written.status().message.c_str());
  std::exit(1);
}

}  // namespace

double SecondsSince(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

double StoreLivesPerSecond(api::Json pod, int pods) {
  auto store = storage::OpenMemoryStore();
  auto start = Steady::now();
  for (int i = 0; i < pods; ++i) {
    api::Json document = pod;
    document["metadata"]["name"] = "pod-" + std::to_string(i);
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

bool HasText(const api::ObjectPtr& object, std::string_view text) {
  return object->body().find(text) != std::string::npos;
}

Counter::Counter(storage::Store& store, std::string resource, Wanted wanted) : wanted_(std::move(wanted)) {
  storage::WatchQuery query;
  query.resource = std::move(resource);
  query.from_revision = store.CurrentRevision();
  query.buffer_events = 10'000'000;
  watch_ = std::move(*store.StartWatch(query));
}

void Counter::WaitFor(std::size_t count) {
  while (count_ < count) {
    events_.clear();
    watch_->Take(4096, events_);
    for (const storage::Event& event : events_) count_ += wanted_(event) ? 1 : 0;
    // Polls instead of being woken for every event, so that wake-ups of this thread are not measured.
    if (count_ < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

LiveCluster::LiveCluster(int nodes)
    : log_("bench", std::make_shared<spdlog::sinks::stderr_sink_mt>()),
      runtime_({.start = clock_.Now(), .mode = {}, .wall = testbed::WallTime}) {
  log_.set_level(spdlog::level::warn);
  testbed::ComponentOptions components;
  components.nodes.nodes = nodes;
  auto control_plane = testbed::ControlPlane::Make(runtime_, log_, {}, components);
  CHECK(control_plane.ok());
  control_plane_ = std::move(*control_plane);
  Counter open(control_plane_->store(), "nodes", BecameSchedulable);
  driver_ = std::make_unique<testbed::LiveDriver>(runtime_, 2);
  open.WaitFor(static_cast<std::size_t>(nodes));
}

LiveCluster::~LiveCluster() { driver_->Stop(); }

void LiveCluster::Write(api::WriteRequest request) {
  control_plane_->handler().Write(std::move(request), {}, Must);
}

}  // namespace terrarium::bench
