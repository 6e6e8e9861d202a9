// Users who change Deployments at random, over several seeds: whatever they do, and in whatever order the
// components run, no invariant is broken. The seed decides everything, so that a failure is reproducible.

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/base/prng.h"
#include "api/json_access.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;
using api::ObjectPtr;

const char* const kNames[] = {"web", "shop"};

class RandomUser {
 public:
  RandomUser(std::uint64_t seed, const std::string& gates) : chance_(seed), bed_(Options(seed, gates)) {}

  // The broken invariants, or nothing.
  std::string Run(int steps) {
    for (int i = 0; i < steps && broken_.empty(); ++i) Step();
    if (broken_.empty()) bed_.clock().RunUntilIdle(1h);
    return broken_;
  }
  const std::string& story() const { return story_; }

 private:
  TestbedOptions Options(std::uint64_t seed, const std::string& gates) {
    TestbedOptions options;
    options.seed = seed;
    options.feature_gates = gates;
    options.nodes = 2;
    options.on_violation = [this](const invariants::Violation& violation) {
      if (broken_.empty()) broken_ = violation.String();
    };
    return options;
  }

  std::uint64_t Below(std::uint64_t bound) { return chance_.Below(bound); }
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Below(choices.size())];
  }
  std::string Name() { return kNames[Below(2)]; }

  void Step() {
    switch (Below(20)) {
      case 0:
      case 1:
      case 2: return Patch({{"spec", {{"replicas", Below(9)}}}});
      case 3:
      case 4: return Patch({{"spec", {{"template", Template()}}}});
      case 5: return Patch({{"spec", {{"strategy", Strategy()}}}});
      case 6: return Patch({{"spec", {{"podReplacementPolicy", Policy()}}}});
      case 7: return Patch({{"spec", {{"paused", Below(2) == 0}}}});
      case 8: return Patch({{"spec", {{"minReadySeconds", Below(3) * 4}}}});
      case 9: return CreateDeployment();
      case 10: return Remove("deployments");
      case 11: return Remove("replicasets");
      case 12:
      case 13: return Remove("pods");
      case 14: return FailPod();
      case 15: return RelabelPod();
      case 16: return MakeStray();
      case 17: return ScaleReplicaSet();
      case 18: return Advance(std::chrono::milliseconds(Below(20'000)));
      default: return Idle();
    }
  }

  Json Template() {
    Json script = {{"terrarium.dev/stop-after", OneOf({"0s", "3s", "15s"})},
                   {"terrarium.dev/ready-delay", OneOf({"0s", "2s"})},
                   {"terrarium.dev/stop-exit-code", OneOf({"0", "1"})}};
    return {{"metadata", {{"annotations", script}}},
            {"spec", {{"containers", {{{"name", "c"}, {"image", "i:" + std::to_string(Below(4))}}}}}}};
  }
  Json Strategy() {
    if (Below(4) == 0) return {{"type", "Recreate"}, {"rollingUpdate", nullptr}};
    std::vector<std::pair<Json, Json>> limits = {{"25%", "25%"}, {1, 0}, {0, 1}, {"50%", 0}, {2, 2}};
    auto [surge, unavailable] = limits[Below(limits.size())];
    return {{"type", "RollingUpdate"},
            {"rollingUpdate", {{"maxSurge", surge}, {"maxUnavailable", unavailable}}}};
  }
  Json Policy() {
    if (Below(4) == 0) return nullptr;
    return OneOf({"TerminationComplete", "TerminationComplete", "TerminationStarted"});
  }

  void CreateDeployment() {
    std::string name = Name();
    Json labels = {{"app", name}};
    Json pods = Template();
    pods["metadata"]["labels"] = labels;
    Json spec = {{"replicas", Below(9)},
                 {"selector", {{"matchLabels", labels}}},
                 {"template", pods},
                 {"strategy", Strategy()},
                 {"podReplacementPolicy", Policy()}};
    Note("create deployments " + name + " " + spec.dump());
    // The object may exist already.
    bed_.Create("deployments", "default", {{"metadata", {{"name", name}}}, {"spec", spec}}).ok();
  }
  void Patch(const Json& patch) {
    std::string name = Name();
    Note("patch deployments " + name + " " + patch.dump());
    bed_.Patch("deployments", {"default", name}, patch).ok();
  }
  void ScaleReplicaSet() {
    Each("replicasets", "scale", [this](const ObjectPtr& set) {
      bed_.Patch("replicasets", {"default", set->header().name}, {{"spec", {{"replicas", Below(5)}}}}).ok();
    });
  }
  void Remove(const char* resource) {
    Each(resource, "delete", [this, resource](const ObjectPtr& object) {
      api::DeleteRequest how;
      how.propagation_policy = OneOf({"Background", "Background", "Foreground", "Orphan"});
      if (Below(8) == 0) how.grace_period_seconds = 0;
      bed_.Delete(resource, {"default", object->header().name}, how).ok();
    });
  }
  void FailPod() {
    Each("pods", "fail", [this](const ObjectPtr& pod) {
      bed_.rules().Fail({{"namespace", "default"}, {"pod", pod->header().name}}).ok();
    });
  }
  void RelabelPod() {
    Each("pods", "relabel", [this](const ObjectPtr& pod) {
      Json labels = {{"app", Name()}, {"pod-template-hash", OneOf<Json>({nullptr, "x"})}};
      bed_.Patch("pods", {"default", pod->header().name}, {{"metadata", {{"labels", labels}}}}).ok();
    });
  }
  // A pod without a controller that some ReplicaSet selects.
  void MakeStray() {
    Each("replicasets", "stray for", [this](const ObjectPtr& set) {
      Json labels;
      for (const auto& [key, value] : set->header().labels) labels[key] = value;
      Json pod = {{"metadata", {{"generateName", "stray-"}, {"labels", labels}}},
                  {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
      bed_.Create("pods", "default", pod).ok();
    });
  }
  void Each(const char* resource, const std::string& what, const std::function<void(const ObjectPtr&)>& act) {
    std::vector<ObjectPtr> all = bed_.List(resource, "default");
    if (all.empty()) return;
    ObjectPtr one = all[Below(all.size())];
    Note(what + " " + resource + " " + one->header().name);
    act(one);
  }
  void Advance(api::Duration by) {
    Note("advance " + std::to_string(by.count()) + "us");
    bed_.clock().Advance(by);
  }
  void Idle() {
    Note("run until idle");
    bed_.clock().RunUntilIdle(10min);
  }
  void Note(const std::string& what) {
    story_ += std::to_string(bed_.control_plane().store().CurrentRevision()) + " " + what + "\n";
  }

  api::Prng chance_;
  std::string broken_;
  std::string story_;
  Testbed bed_;
};

constexpr const char* kGates[] = {"DeploymentPodReplacementPolicy=true",
                                  "DeploymentReplicaSetTerminatingReplicas=false"};

TEST(RandomRollouts, BreakNoInvariant) {
  for (const char* gates : kGates) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      RandomUser user(seed, gates);
      std::string broken = user.Run(120);
      ASSERT_EQ(broken, "") << "seed " << seed << ", " << gates << "\n" << user.story();
    }
  }
}

}  // namespace
}  // namespace terrarium::testbed
