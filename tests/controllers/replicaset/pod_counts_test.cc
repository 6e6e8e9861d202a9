#include "controllers/replicaset/internal/pod_counts.h"

#include <gtest/gtest.h>

#include "controllers/replicaset/internal/pod_facts.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;
using controllers_testing::MakeObject;
using namespace std::chrono_literals;

const api::Time kNow = controllers_testing::FakeRuntime::kStart;  // 2026-01-01T00:00:00Z

PodFacts Facts(Json pod) {
  if (!pod.contains("metadata")) pod["metadata"] = Json::object();
  api::ObjectPtr object = MakeObject(pod);
  return FactsOf(*object, *object->Document());
}

TEST(PodFacts, EndedAndDeletedPodsAreNotActive) {
  struct Case {
    const char* phase;
    bool deleting, active, terminating;
  };
  for (const Case& c : {Case{"Pending", false, true, false}, Case{"Running", false, true, false},
                        Case{"Succeeded", false, false, false}, Case{"Failed", false, false, false},
                        Case{"Running", true, false, true}, Case{"Pending", true, false, true},
                        Case{"Succeeded", true, false, false}, Case{"Failed", true, false, false}}) {
    Json pod = {{"metadata", {{"name", "p"}}}, {"status", {{"phase", c.phase}}}};
    if (c.deleting) pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    PodFacts facts = Facts(pod);
    EXPECT_EQ(facts.active, c.active) << pod;
    EXPECT_EQ(facts.terminating, c.terminating) << pod;
  }
}

TEST(PodFacts, ReadySinceItsConditionTurned) {
  Json condition = {{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", "2026-01-01T00:00:05Z"}};
  Json pod = {{"status", {{"phase", "Running"}, {"conditions", {condition}}}}};
  EXPECT_TRUE(Facts(pod).ready);
  EXPECT_EQ(Facts(pod).ready_since, kNow + 5s);
  pod["status"]["conditions"][0]["status"] = "False";
  EXPECT_FALSE(Facts(pod).ready);
  EXPECT_EQ(Facts(pod).ready_since, kNoTime);
}

// KEP-2255, unit: valid values, and values that the apiserver would have refused.
TEST(PodFacts, DeletionCostIsAPlainInt32) {
  const std::pair<const char*, int> cases[] = {{"0", 0},
                                               {"5", 5},
                                               {"-5", -5},
                                               {"2147483647", 2147483647},
                                               {"-2147483648", -2147483648},
                                               {"+5", 0},
                                               {"007", 0},
                                               {"", 0},
                                               {"1.5", 0},
                                               {"2147483648", 0},
                                               {"ten", 0},
                                               {"5 apples", 0}};
  for (const auto& [text, cost] : cases)
    EXPECT_EQ(Facts({{"metadata", {{"annotations", {{"controller.kubernetes.io/pod-deletion-cost", text}}}}}})
                  .deletion_cost,
              cost)
        << text;
  EXPECT_EQ(Facts(Json::object()).deletion_cost, 0);
}

TEST(PodFacts, RestartsAreThoseOfTheContainerThatRestartedMost) {
  PodFacts facts = Facts(
      {{"spec",
        {{"initContainers", {{{"name", "setup"}}, {{"name", "proxy"}, {"restartPolicy", "Always"}}}}}},
       {"status",
        {{"containerStatuses", {{{"name", "a"}, {"restartCount", 2}}, {{"name", "b"}, {"restartCount", 1}}}},
         {"initContainerStatuses",
          {{{"name", "setup"}, {"restartCount", 7}}, {{"name", "proxy"}, {"restartCount", 3}}}}}}});
  EXPECT_EQ(facts.restarts, 2);
  EXPECT_EQ(facts.sidecar_restarts, 3) << "an init container that ends is not a sidecar";
}

TEST(PodShare, OnlySelectedPodsCount) {
  PodFacts facts{.active = true, .ready = true, .ready_since = kNow};
  EXPECT_EQ(
      ShareOf(facts, true, true),
      (PodShare{.live = true, .labelled = true, .ready = true, .terminating = false, .ready_since = kNow}));
  EXPECT_EQ(ShareOf(facts, true, false).labelled, false);
  EXPECT_EQ(ShareOf(facts, false, true), PodShare{});
  facts.active = false;
  facts.terminating = true;
  EXPECT_EQ(ShareOf(facts, true, true), PodShare{.terminating = true}) << "ready or not";
}

PodShare ReadySince(api::Time since) {
  return {.live = true, .labelled = true, .ready = true, .ready_since = since};
}

TEST(PodCounts, CountWhatWasAddedAndNotRemoved) {
  PodCounts counts;
  counts.Add(ReadySince(kNow));
  counts.Add({.live = true});
  counts.Add({.terminating = true});
  EXPECT_EQ(counts.live(), 2);
  EXPECT_EQ(counts.labelled(), 1);
  EXPECT_EQ(counts.ready(), 1);
  EXPECT_EQ(counts.terminating(), 1);
  EXPECT_EQ(counts.AvailableAt(kNow), 1);
  EXPECT_EQ(counts.NextAvailable(), std::nullopt);
  counts.Remove(ReadySince(kNow));
  counts.Remove({.terminating = true});
  EXPECT_EQ(counts.live(), 1);
  EXPECT_EQ(counts.ready(), 0);
  EXPECT_EQ(counts.terminating(), 0);
  EXPECT_EQ(counts.AvailableAt(kNow), 0);
}

TEST(PodCounts, APodIsAvailableAtTheVeryInstantItsTimeIsUp) {
  PodCounts counts(10s);
  counts.Add(ReadySince(kNow));
  counts.Add(ReadySince(kNow + 3s));
  counts.Add(ReadySince(kNow + 3s));
  EXPECT_EQ(counts.AvailableAt(kNow), 0);
  EXPECT_EQ(counts.NextAvailable(), kNow + 10s);
  EXPECT_EQ(counts.AvailableAt(kNow + 10s - 1us), 0);
  EXPECT_EQ(counts.AvailableAt(kNow + 10s), 1);
  EXPECT_EQ(counts.NextAvailable(), kNow + 13s);
  EXPECT_EQ(counts.AvailableAt(kNow + 13s), 3);
  EXPECT_EQ(counts.NextAvailable(), std::nullopt);
}

TEST(PodCounts, PodsLeaveFromBeforeAndAfterTheirTimeIsUp) {
  PodCounts counts(10s);
  counts.Add(ReadySince(kNow));
  counts.Add(ReadySince(kNow + 5s));
  EXPECT_EQ(counts.AvailableAt(kNow + 12s), 1);
  counts.Remove(ReadySince(kNow));
  EXPECT_EQ(counts.AvailableAt(kNow + 12s), 0);
  counts.Remove(ReadySince(kNow + 5s));
  EXPECT_EQ(counts.NextAvailable(), std::nullopt);
  counts.Add(ReadySince(kNow + 1s));
  EXPECT_EQ(counts.AvailableAt(kNow + 12s), 1) << "ready long ago, and only seen now";
}

TEST(PodCounts, APodWithoutAReadyTimeIsNeverAvailable) {
  PodCounts counts(10s);
  counts.Add(ReadySince(kNoTime));
  EXPECT_EQ(counts.AvailableAt(kNow + 1000h), 0);
  EXPECT_EQ(counts.NextAvailable(), std::nullopt);
  PodCounts in_one_step;
  in_one_step.Add(ReadySince(kNoTime));
  EXPECT_EQ(in_one_step.AvailableAt(kNow), 1) << "unless it need not be ready for any time";
}

}  // namespace
}  // namespace terrarium::controllers::replicaset
