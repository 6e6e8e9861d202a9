// A component crashes at each of its writes, before it is sent and after: the next run finishes the work, and
// the final state is the same.

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/prng.h"
#include "tests/testbed/control_plane/component_testing.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::IntAt;
using api::Json;

// The parts that do not depend on order: no names, times or revisions.
Json FinalState(Testbed& bed) {
  Json out = Json::object();
  const Json deployment = DocumentOf(bed, "deployments", "web");
  for (const char* count : {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
                            "terminatingReplicas", "observedGeneration"})
    out["deployment"][count] = IntAt(deployment, -1, "status", count);
  Json sets = Json::object();
  for (const api::ObjectPtr& object : bed.List("replicasets", "default")) {
    const Json set = object->Parse();
    const Json& image = api::ListAt(set, "spec", "template", "spec", "containers")[0]["image"];
    Json& counts = sets[image.get<std::string>()];
    EXPECT_TRUE(counts.is_null()) << "two ReplicaSets for " << image;
    for (const char* count : {"replicas", "readyReplicas", "availableReplicas", "terminatingReplicas"})
      counts[count] = IntAt(set, 0, "status", count);
  }
  out["replicaSets"] = std::move(sets);
  const Json job = DocumentOf(bed, "jobs", "sum");
  for (const char* count : {"active", "succeeded", "failed", "ready", "terminating"})
    out["job"][count] = IntAt(job, 0, "status", count);
  std::set<std::string> conditions;
  for (const Json& condition : api::ListAt(job, "status", "conditions"))
    conditions.insert(std::string(api::StringAt(condition, "type")) + "=" +
                      std::string(api::StringAt(condition, "status")));
  out["job"]["conditions"] = conditions;
  out["job"]["uncounted"] = api::Find(job, "status", "uncountedTerminatedPods") == nullptr
                                ? Json()
                                : *api::Find(job, "status", "uncountedTerminatedPods");
  std::map<std::string, int> pods;
  for (const api::ObjectPtr& object : bed.List("pods", "default")) {
    const Json pod = object->Parse();
    const std::string owner(api::StringAt(api::ListAt(pod, "metadata", "ownerReferences")[0], "kind"));
    const bool tracked = !api::ListAt(pod, "metadata", "finalizers").empty();
    pods[owner + " " + std::string(api::StringAt(pod, "status", "phase")) + (tracked ? " tracked" : "")]++;
  }
  out["pods"] = pods;
  return out;
}

struct Outcome {
  Json state;
  bool crashed = false;
};

// A concurrent rollout and Job, and a component that crashes at its nth write; 0: no crash.
Outcome RunWith(const std::string& component, int write, Testbed::CrashMoment moment) {
  Testbed bed({.feature_gates = kPolicyGates, .nodes = 1});
  Json deployment = TestDeployment(2, "i:1", {{"terrarium.dev/stop-after", "3s"}});
  deployment["spec"]["podReplacementPolicy"] = "TerminationComplete";
  Testbed::Must(bed.Create("deployments", "default", deployment));
  bed.clock().RunUntilIdle(10min);
  if (write > 0) bed.CrashAtWrite(component, write, moment);
  deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "i:2";
  Testbed::Must(bed.Update("deployments", deployment));
  Testbed::Must(bed.Create("jobs", "default", TestJob(3, 2)));
  bed.clock().RunUntilIdle(10min);
  Outcome out;
  out.crashed = !bed.IsRunning(component);
  if (out.crashed) {
    Testbed::Must(bed.Start(component));
    bed.clock().RunUntilIdle(20min);
  }
  out.state = FinalState(bed);
  return out;
}

class CrashPoints : public testing::TestWithParam<const char*> {};

TEST_P(CrashPoints, EveryWriteMayBeTheLastOfARun) {
  const std::string component = GetParam();
  const Outcome whole = RunWith(component, 0, Testbed::CrashMoment::kBeforeWrite);
  ASSERT_FALSE(whole.crashed);
  ASSERT_EQ(whole.state["job"]["succeeded"], 3);
  ASSERT_EQ(whole.state["deployment"]["availableReplicas"], 2);
  for (const auto moment : {Testbed::CrashMoment::kBeforeWrite, Testbed::CrashMoment::kAfterWrite}) {
    int write = 1;
    for (;; ++write) {
      const Outcome cut = RunWith(component, write, moment);
      if (!cut.crashed) break;
      EXPECT_EQ(cut.state, whole.state) << component << ", write " << write << ", "
                                        << (moment == Testbed::CrashMoment::kAfterWrite ? "after" : "before");
    }
    EXPECT_GT(write, 5) << component << " hardly wrote anything";
  }
}

// Components that restart with other gates at random while users continue. The monitor checks every revision.
TEST(RandomRestarts, WhateverHappensTheRolloutEndsAndNoInvariantIsBroken) {
  const char* const components[] = {"apiserver", "controller-manager", "scheduler", "kubelet"};
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Testbed bed({.seed = seed, .feature_gates = kPolicyGates, .nodes = 2});
    api::Prng draw(seed);
    Json deployment = TestDeployment(3, "i:0", {{"terrarium.dev/stop-after", "4s"}});
    deployment["spec"]["podReplacementPolicy"] = seed % 2 == 0 ? "TerminationComplete" : "TerminationStarted";
    Testbed::Must(bed.Create("deployments", "default", deployment));
    const auto set_gates = [&](const std::string& component, bool on) {
      Testbed::Must(bed.SetGates(component, {{"DeploymentPodReplacementPolicy", on},
                                             {"DeploymentReplicaSetTerminatingReplicas", on}}));
    };
    for (int step = 0; step < 40; ++step) {
      const std::string component = components[draw.Below(4)];
      switch (draw.Below(6)) {
        case 0: set_gates(component, draw.Below(2) == 0); break;
        case 1:
          if (bed.IsRunning(component)) Testbed::Must(bed.Crash(component));
          break;
        case 2:
          if (bed.IsRunning(component))
            Testbed::Must(bed.Restart(component));
          else
            Testbed::Must(bed.Start(component));
          break;
        case 3:
          bed.Patch("deployments", {"default", "web"},
                    {{"spec",
                      {{"template",
                        {{"spec",
                          {{"containers", {{{"name", "web"}, {"image", "i:" + std::to_string(step)}}}}}}}}}}})
              .ok();
          break;
        case 4:
          bed.Patch("deployments", {"default", "web"}, {{"spec", {{"replicas", 1 + draw.Below(6)}}}}).ok();
          break;
        default: break;
      }
      if (draw.Below(2) == 0)
        bed.clock().Advance(std::chrono::milliseconds(draw.Below(9'000)));
      else
        bed.clock().AdvanceToNextTimer();
    }
    for (const char* component : components) {
      if (!bed.IsRunning(component)) Testbed::Must(bed.Start(component));
      set_gates(component, true);
    }
    bed.clock().Advance(2min);
    Testbed::Must(
        bed.Patch("deployments", {"default", "web"},
                  {{"spec",
                    {{"replicas", 4},
                     {"template", {{"spec", {{"containers", {{{"name", "web"}, {"image", "i:end"}}}}}}}}}}}));
    bed.clock().RunUntilIdle(1h);
    EXPECT_TRUE(RolledOut(bed, 4, "i:end"));
    EXPECT_EQ(IntAt(DocumentOf(bed, "deployments", "web"), -1, "status", "terminatingReplicas"), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Components, CrashPoints,
                         testing::Values("controller-manager", "kubelet", "scheduler"), [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace terrarium::testbed
