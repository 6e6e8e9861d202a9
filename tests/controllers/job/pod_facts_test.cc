#include "controllers/job/internal/pod_facts.h"

#include <gtest/gtest.h>

#include "tests/controllers/job/rules_testing.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;
using std::chrono::seconds;
using testing::At;
using testing::kNoon;

TEST(PodFacts, AreReadFromTheDocument) {
  Json pod = {
      {"metadata",
       {{"name", "pi-3-abcde"},
        {"uid", "u1"},
        {"creationTimestamp", At(seconds(1))},
        {"finalizers", {"example.com/other", "batch.kubernetes.io/job-tracking"}},
        {"annotations",
         {{"batch.kubernetes.io/job-completion-index", "3"},
          {"batch.kubernetes.io/job-index-failure-count", "2"},
          {"batch.kubernetes.io/job-index-ignored-failure-count", "1"}}}}},
      {"spec",
       {{"nodeName", "node-0"}, {"initContainers", {{{"name", "side"}, {"restartPolicy", "Always"}}}}}},
      {"status",
       {{"phase", "Running"},
        {"conditions", {{{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", At(seconds(5))}}}},
        {"containerStatuses", {{{"name", "a"}, {"restartCount", 1}}, {{"name", "b"}, {"restartCount", 4}}}},
        {"initContainerStatuses",
         {{{"name", "side"}, {"restartCount", 2}}, {{"name", "once"}, {"restartCount", 7}}}}}}};
  const PodFacts facts = FactsOf(pod);
  EXPECT_EQ(facts.name, "pi-3-abcde");
  EXPECT_EQ(facts.uid, "u1");
  EXPECT_EQ(facts.phase, Phase::kRunning);
  EXPECT_FALSE(facts.deleting);
  EXPECT_TRUE(facts.ready);
  EXPECT_TRUE(facts.has_finalizer);
  EXPECT_TRUE(facts.assigned);
  EXPECT_EQ(facts.index, 3);
  EXPECT_EQ(facts.index_failures, 2);
  EXPECT_EQ(facts.index_ignored_failures, 1);
  EXPECT_EQ(facts.AllIndexFailures(), 3);
  EXPECT_EQ(facts.ready_since, kNoon + seconds(5));
  EXPECT_EQ(facts.created, kNoon + seconds(1));
  EXPECT_EQ(facts.restarts_most, 4);
  EXPECT_EQ(facts.restarts_most_sidecar, 2);
  EXPECT_EQ(facts.restarts, 14);
}

TEST(PodFacts, OfAFreshPodAreFew) {
  const PodFacts facts = FactsOf(Json::object());
  EXPECT_EQ(facts.phase, Phase::kPending);
  EXPECT_EQ(facts.index, kUnknownIndex);
  EXPECT_FALSE(facts.has_finalizer);
  EXPECT_FALSE(facts.ready);
  EXPECT_TRUE(facts.Active());
}

TEST(PodFacts, HaveAFinishTimeOnceThePodIsGoing) {
  Json pod = {{"metadata", {{"deletionTimestamp", At(seconds(40))}, {"deletionGracePeriodSeconds", 30}}},
              {"status", {{"phase", "Running"}}}};
  EXPECT_EQ(FactsOf(pod).finish_time, kNoon + seconds(10));
}

// KEP-3939, unit: determine if pods are terminating.
TEST(PodFacts, APodIsTerminatingWhileItIsDeletedAndHasNotEnded) {
  for (const char* phase : {"Pending", "Running", "Unknown", "Succeeded", "Failed"}) {
    const bool ended = phase == std::string("Succeeded") || phase == std::string("Failed");
    Json pod = {{"metadata", Json::object()}, {"status", {{"phase", phase}}}};
    EXPECT_EQ(FactsOf(pod).Active(), !ended) << phase;
    EXPECT_FALSE(FactsOf(pod).Terminating()) << phase;
    pod["metadata"]["deletionTimestamp"] = At(seconds(0));
    EXPECT_FALSE(FactsOf(pod).Active()) << phase;
    EXPECT_EQ(FactsOf(pod).Terminating(), !ended) << phase;
  }
}

TEST(CompletionIndexOf, IsANumberFromZeroOnOrUnknown) {
  auto index_of = [](const char* text) {
    return CompletionIndexOf(
        {{"metadata", {{"annotations", {{"batch.kubernetes.io/job-completion-index", text}}}}}});
  };
  EXPECT_EQ(index_of("0"), 0);
  EXPECT_EQ(index_of("12"), 12);
  EXPECT_EQ(index_of("-1"), kUnknownIndex);
  EXPECT_EQ(index_of(""), kUnknownIndex);
  EXPECT_EQ(index_of("1x"), kUnknownIndex);
  EXPECT_EQ(index_of("99999999999999999999"), kUnknownIndex);
  // The label alone is not enough.
  Json labelled = {{"metadata", {{"labels", {{"batch.kubernetes.io/job-completion-index", "1"}}}}}};
  EXPECT_EQ(CompletionIndexOf(labelled), kUnknownIndex);
}

TEST(PodFacts, AMalformedNumberOfFailuresIsZero) {
  auto failures = [](const char* text) {
    return FactsOf({{"metadata", {{"annotations", {{"batch.kubernetes.io/job-index-failure-count", text}}}}}})
        .index_failures;
  };
  EXPECT_EQ(failures("5"), 5);
  EXPECT_EQ(failures("2147483647"), 2147483647);
  EXPECT_EQ(failures("2147483648"), 0);
  EXPECT_EQ(failures("-1"), 0);
  EXPECT_EQ(failures("many"), 0);
}

TEST(ParseNumber, ReadsASignAndDigitsOnly) {
  EXPECT_EQ(ParseNumber("+7"), 7);
  EXPECT_EQ(ParseNumber("-7"), -7);
  EXPECT_EQ(ParseNumber("007"), 7);
  for (const char* text : {"", "+", "+-7", "-+7", " 7", "7 ", "0x7", "7.0"})
    EXPECT_EQ(ParseNumber(text), std::nullopt);
}

// Each pod of the row is given up before the next.
TEST(GivenUpBefore, TheLeastAdvancedPodIsFirst) {
  PodFacts base;
  base.assigned = true;
  base.phase = Phase::kRunning;
  base.ready = true;
  base.ready_since = kNoon;
  base.created = kNoon;
  std::vector<PodFacts> row(8, base);
  row[0].assigned = false;
  row[1].phase = Phase::kPending;
  row[2].phase = Phase::kUnknown;
  row[3].ready = false;
  row[4].ready_since = kNoon + seconds(1);
  row[5].restarts_most = 1;
  row[6].created = kNoon + seconds(1);
  for (std::size_t i = 0; i < row.size(); ++i)
    for (std::size_t j = 0; j < row.size(); ++j)
      EXPECT_EQ(GivenUpBefore(row[i], row[j]), i < j) << i << " before " << j;
  PodFacts sidecar_restarted = base;
  sidecar_restarted.restarts_most_sidecar = 1;
  EXPECT_TRUE(GivenUpBefore(sidecar_restarted, base));
  PodFacts since_unknown = base;
  since_unknown.ready_since = {};
  EXPECT_TRUE(GivenUpBefore(since_unknown, row[4]));
}

}  // namespace
}  // namespace terrarium::controllers::job
