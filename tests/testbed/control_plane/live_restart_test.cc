// Components that are restarted and crashed on the live runtime, while threads run them and clients write.

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "api/write_request.h"
#include "testbed/control_plane/components.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/runtime/real_driver.h"
#include "testbed/runtime/real_runtime.h"
#include "tests/testbed/control_plane/component_testing.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using Action = ComponentChange::Action;

// Retries take seconds: the clock runs twenty times as fast as wall-clock time.
constexpr double kFactor = 20;
constexpr auto kPatience = 60s;

class LiveCluster {
 public:
  LiveCluster() : log_("terrarium", std::make_shared<spdlog::sinks::null_sink_mt>()) {
    ControlPlaneOptions options;
    options.gates = *api::FeatureGates().With(kPolicyGates);
    ComponentOptions components;
    components.nodes.nodes = 2;
    components.controller_manager_gates = components.kubelet_gates = components.scheduler_gates =
        options.gates;
    auto made = ControlPlane::Make(runtime_, log_, std::move(options), components);
    CHECK(made.ok());
    control_plane_ = std::move(*made);
    driver_ = std::make_unique<LiveDriver>(runtime_, 2);
  }
  ~LiveCluster() { driver_->Stop(); }

  ControlPlane& control_plane() { return *control_plane_; }

  ChangeResult Change(const std::string& component, ComponentChange change) {
    std::promise<ChangeResult> answer;
    control_plane_->components().Change(component, std::move(change),
                                        [&answer](ChangeResult result) { answer.set_value(result); });
    return answer.get_future().get();
  }

  // False if the apiserver was down.
  bool Write(api::WriteRequest request) {
    std::promise<bool> answer;
    control_plane_->handler().Write(
        std::move(request), {}, [&answer](api::Client::Written written) { answer.set_value(written.ok()); });
    return answer.get_future().get();
  }

  // Waits until the stored state satisfies it. The state is checked after every write of a Deployment.
  bool WaitUntil(const std::function<bool(const api::Json& deployment)>& holds) {
    struct Woken {
      std::mutex mutex;
      std::condition_variable changed;
      bool news = true;
    };
    auto woken = std::make_shared<Woken>();
    storage::WatchQuery query;
    query.resource = "deployments";
    query.from_revision = control_plane_->store().CurrentRevision();
    auto watch = std::move(*control_plane_->store().StartWatch(query));
    watch->SetWake([woken] {
      std::lock_guard lock(woken->mutex);
      woken->news = true;
      woken->changed.notify_all();
    });
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      {
        std::unique_lock lock(woken->mutex);
        if (!woken->changed.wait_until(lock, end, [&] { return woken->news; })) return false;
        woken->news = false;
      }
      std::vector<storage::Event> events;
      watch->Take(10'000, events);
      api::ObjectPtr object = control_plane_->store().Get({"deployments", "default", "web"});
      if (object != nullptr && holds(object->Parse())) return true;
    }
  }

 private:
  spdlog::logger log_;
  Runtime runtime_{
      {.start = api::Time(1'767'225'600s), .mode = {ClockMode::Kind::kScaled, kFactor}, .wall = WallTime}};
  std::unique_ptr<ControlPlane> control_plane_;
  std::unique_ptr<LiveDriver> driver_;
};

api::WriteRequest ScaleTo(int replicas) {
  return api::RequestToPatch("deployments", {"default", "web"}, {{"spec", {{"replicas", replicas}}}}, "");
}

// While one thread scales a Deployment up and down, another one stops and starts components.
TEST(LiveRestart, UnderLoadNothingIsLost) {
  LiveCluster live;
  ASSERT_TRUE(live.Write(api::RequestToCreate("deployments", "default", TestDeployment(3, "i:1"))));
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      live.Write(ScaleTo(1 + i % 8));
      live.Write(api::RequestToCreate("configmaps", "default", {{"metadata", {{"generateName", "load-"}}}}));
    }
  });
  std::thread reader([&] {
    while (!stop) {
      live.control_plane().components().List();
      live.control_plane().components().MetricsText();
      live.control_plane().components().OnKubelet([](const KubeletControls*) {});
    }
  });
  const char* const names[] = {"controller-manager", "kubelet", "scheduler", "apiserver"};
  for (int round = 0; round < 12; ++round) {
    const std::string name = names[round % 4];
    EXPECT_TRUE(live.Change(name, {Action::kRestart}).ok());
    EXPECT_TRUE(live.Change(name, {Action::kCrash}).ok());
    EXPECT_TRUE(live.Change(name, {Action::kStart}).ok());
    EXPECT_TRUE(live.Change(name, {Action::kSetGates, {{"JobSuccessPolicy", round % 2 == 0}}}).ok());
    EXPECT_TRUE(live.Change(name, {Action::kStop}).ok());
    EXPECT_EQ(live.Change(name, {Action::kStop}).status().code, 409);
    EXPECT_TRUE(live.Change(name, {Action::kStart}).ok());
  }
  stop = true;
  writer.join();
  reader.join();
  ASSERT_TRUE(live.Write(ScaleTo(5)));
  EXPECT_TRUE(live.WaitUntil([](const api::Json& deployment) {
    return api::IntAt(deployment, 0, "status", "availableReplicas") == 5 &&
           api::IntAt(deployment, 0, "status", "replicas") == 5;
  }));
}

TEST(LiveRestart, ChangesFromManyThreadsComeOneAfterTheOther) {
  LiveCluster live;
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 10; ++j) made += live.Change("controller-manager", {Action::kRestart}).ok() ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 40);
  EXPECT_EQ(live.control_plane().components().Find("controller-manager")->starts, 41);
}

}  // namespace
}  // namespace terrarium::testbed
