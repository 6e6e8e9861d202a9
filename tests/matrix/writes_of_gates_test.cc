// "Will enabling / using this feature result in any new API calls?": the same sequence on two clusters that
// differ in one gate, and the number of writes of each kind.

#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "storage/store.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/embedding/testbed.h"
#include "tests/kubelet-fake/kubelet/endless_pods.h"

namespace terrarium::matrix {
namespace {

using api::Json;
using testbed::Testbed;
using namespace std::chrono_literals;

constexpr std::size_t kAll = 1'000'000;
using Writes = std::map<std::string, std::size_t>;
using Story = std::function<void(Testbed&)>;

// The number of revisions of each kind at the end of the sequence.
Writes WritesIn(const std::string& gates, const Story& story) {
  Testbed bed({.feature_gates = gates, .nodes = 1, .pod_defaults = kubelet_fake::EndlessPods()});
  bed.clock().Advance(1min);
  std::map<std::string, std::unique_ptr<storage::Watch>> watches;
  for (const char* resource : {"deployments", "replicasets", "replicationcontrollers", "jobs", "pods"}) {
    storage::WatchQuery query;
    query.resource = resource;
    query.from_revision = bed.control_plane().store().CurrentRevision();
    query.buffer_events = kAll;
    watches[resource] = std::move(*bed.control_plane().store().StartWatch(query));
  }
  story(bed);
  EXPECT_EQ(bed.clock().RunUntilIdle(1h).why, testbed::RunOutcome::Why::kIdle);
  Writes writes;
  for (auto& [resource, watch] : watches) {
    std::vector<storage::Event> events;
    EXPECT_EQ(watch->Take(kAll, events), storage::Watch::State::kOpen);
    if (!events.empty()) writes[resource] = events.size();
  }
  return writes;
}

Json TemplateOf(const Json& script) {
  Json annotations = Json::object();
  for (const auto& [key, value] : script.items()) annotations["terrarium.dev/" + key] = value;
  return {{"metadata", {{"labels", {{"app", "web"}}}, {"annotations", annotations}}},
          {"spec", {{"containers", Json::array({Json{{"name", "c"}, {"image", "web:1"}}})}}}};
}

void RolloutAndScale(Testbed& bed) {
  const api::ObjectName web{"default", "web"};
  bed.Must(bed.Create("deployments", "default",
                      {{"metadata", {{"name", "web"}}},
                       {"spec",
                        {{"replicas", 3},
                         {"selector", {{"matchLabels", {{"app", "web"}}}}},
                         {"template", TemplateOf({{"stop-after", "5s"}})}}}}));
  bed.clock().Advance(1min);
  bed.Must(bed.Patch("deployments", web, {{"spec", {{"template", TemplateOf({{"stop-after", "6s"}})}}}}));
  bed.clock().Advance(1min);
  bed.Must(bed.Patch("deployments", web, {{"spec", {{"replicas", 1}}}}));
  bed.clock().Advance(2s);
  bed.Must(bed.Patch("deployments", web, {{"spec", {{"replicas", 4}}}}));
}

TEST(WritesOfGates, ThePolicyGateCostsNothingWithoutAPolicy) {
  const Writes off = WritesIn("DeploymentPodReplacementPolicy=false", RolloutAndScale);
  EXPECT_EQ(WritesIn("DeploymentPodReplacementPolicy=true", RolloutAndScale), off);
  EXPECT_GT(off.at("pods"), 9u);
}

TEST(WritesOfGates, TheTerminatingGateWritesStatusesAndNothingElse) {
  std::vector<std::int64_t> generations;
  auto story = [&](Testbed& bed) {
    RolloutAndScale(bed);
    bed.clock().Advance(1min);
    for (const char* resource : {"deployments", "replicasets"})
      for (const api::ObjectPtr& object : bed.List(resource, "default"))
        generations.push_back((*object->Document())["metadata"]["generation"].get<std::int64_t>());
  };
  const Writes off = WritesIn("DeploymentReplicaSetTerminatingReplicas=false", story);
  const std::vector<std::int64_t> without = std::exchange(generations, {});
  const Writes on = WritesIn("DeploymentReplicaSetTerminatingReplicas=true", story);
  EXPECT_EQ(generations, without) << "no spec is written for it";
  EXPECT_EQ(on.at("pods"), off.at("pods"));
}

// kubernetes#131821.
TEST(WritesOfGates, AReplicationControllerIsWrittenNoMoreWithTheGateOn) {
  auto story = [](Testbed& bed) {
    bed.Must(bed.Create("replicationcontrollers", "default",
                        {{"metadata", {{"name", "web"}}},
                         {"spec",
                          {{"replicas", 3},
                           {"selector", {{"app", "web"}}},
                           {"template", TemplateOf({{"stop-after", "30s"}})}}}}));
    bed.clock().Advance(1min);
    bed.Must(bed.Patch("replicationcontrollers", {"default", "web"}, {{"spec", {{"replicas", 1}}}}));
    bed.clock().Advance(1min);
    bed.Must(bed.Delete("pods", {"default", bed.List("pods", "default")[0]->header().name}));
  };
  const Writes off = WritesIn("DeploymentReplicaSetTerminatingReplicas=false", story);
  EXPECT_EQ(WritesIn("DeploymentReplicaSetTerminatingReplicas=true", story), off);
  EXPECT_GT(off.at("replicationcontrollers"), 3u);
}

TEST(WritesOfGates, TheJobGateCostsNothingWhereNothingTerminates) {
  auto story = [](Testbed& bed) {
    Json pod = TemplateOf({{"run-for", "20s"}});
    pod["metadata"].erase("labels");
    pod["spec"]["restartPolicy"] = "Never";
    bed.Must(bed.Create("jobs", "default",
                        {{"metadata", {{"name", "j"}}},
                         {"spec", {{"completions", 4}, {"parallelism", 2}, {"template", pod}}}}));
  };
  const Writes off = WritesIn("JobPodReplacementPolicy=false", story);
  EXPECT_EQ(WritesIn("JobPodReplacementPolicy=true", story), off);
  EXPECT_GT(off.at("jobs"), 3u);
}

}  // namespace
}  // namespace terrarium::matrix
