#include "controllers/replicaset/internal/pod_ranking.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/prng.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::replicaset {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;

const api::Time kNow = controllers_testing::FakeRuntime::kStart;

// On a node, running, ready for a day.
struct TestPod {
  std::string uid;
  PodFacts facts = {.active = true,
                    .ready = true,
                    .ready_since = kNow - 24h,
                    .created = kNow - 24h,
                    .assigned = true,
                    .phase = api::Phase::kRunning};
  int rank = 1;
};

std::vector<std::string> Sorted(const std::vector<TestPod>& pods, RankingRules rules,
                                std::size_t count = 1000) {
  std::vector<api::ObjectPtr> objects;
  std::vector<RankedPod> ranked;
  for (const TestPod& pod : pods) {
    objects.push_back(controllers_testing::MakeObject({{"metadata", {{"name", pod.uid}, {"uid", pod.uid}}}}));
    ranked.push_back({objects.back().get(), &pod.facts, pod.rank});
  }
  rules.now = kNow;
  ChooseForDeletion(ranked, std::min(count, ranked.size()), rules);
  std::vector<std::string> uids;
  for (const RankedPod& pod : ranked) uids.push_back(pod.pod->header().uid);
  return uids;
}

// Two pods that differ in one criterion, by which "z" is deleted first. By its uid it would be the last.
struct Criterion {
  std::string name;
  std::function<void(TestPod& z, TestPod& a)> differ;
  RankingRules rules = {};
  bool decides = true;  // false: they are equal by it, and the uid decides
};

class PodRanking : public testing::TestWithParam<Criterion> {};

TEST_P(PodRanking, EachCriterionDecidesInItsTurn) {
  TestPod z{.uid = "z"};
  TestPod a{.uid = "a"};
  GetParam().differ(z, a);
  auto expected = GetParam().decides ? ElementsAre("z", "a") : ElementsAre("a", "z");
  EXPECT_THAT(Sorted({z, a}, GetParam().rules), expected);
  EXPECT_THAT(Sorted({a, z}, GetParam().rules), expected);
}

const RankingRules kExactTimes = {.logarithmic = false};
const RankingRules kNoCosts = {.deletion_cost = false};

// In each row the later criteria favour the other pod.
const Criterion kCriteria[] = {
    {"UnassignedBeforeAssigned",
     [](TestPod& z, TestPod& a) {
       z.facts.assigned = false;
       a.facts.phase = api::Phase::kPending;
     }},
    {"PendingBeforeUnknown",
     [](TestPod& z, TestPod& a) {
       z.facts.phase = api::Phase::kPending;
       a.facts.phase = api::Phase::kUnknown;
       a.facts.ready = false;
     }},
    {"UnknownBeforeRunning",
     [](TestPod& z, TestPod& a) {
       z.facts.phase = api::Phase::kUnknown;
       a.facts.ready = false;
     }},
    {"NotReadyBeforeReady",
     [](TestPod& z, TestPod& a) {
       z.facts.ready = false;
       a.facts.deletion_cost = -1;
     }},
    {"LowerDeletionCostFirst",
     [](TestPod& z, TestPod& a) {
       z.facts.deletion_cost = 1;
       a.facts.deletion_cost = 2;
       a.rank = 2;
     }},
    {"NegativeDeletionCostBeforeNone",
     [](TestPod& z, TestPod& a) {
       z.facts.deletion_cost = -2147483648;
       a.rank = 2;
     }},
    {"DeletionCostGatedOff", [](TestPod& z, TestPod&) { z.facts.deletion_cost = -1; }, kNoCosts, false},
    {"RankDecidesWithoutDeletionCost",
     [](TestPod& z, TestPod& a) {
       z.rank = 2;
       a.facts.deletion_cost = -1;
     },
     kNoCosts},
    {"GreaterRankFirst",
     [](TestPod& z, TestPod& a) {
       z.rank = 2;
       a.facts.ready_since = kNow - 1s;
     }},
    {"ShorterTimeReadyFirst",
     [](TestPod& z, TestPod& a) {
       z.facts.ready_since = kNow - 1h;
       a.facts.restarts = 1;
     }},
    {"AlmostTheSameTimeReadyIsTheSame",
     [](TestPod& z, TestPod&) { z.facts.ready_since = kNow - 23h; },
     {},
     false},
    {"AlmostTheSameTimeReadyIsNotTheSameOnAnExactScale",
     [](TestPod& z, TestPod& a) {
       z.facts.ready_since = kNow - 23h;
       a.facts.restarts = 1;
     },
     kExactTimes},
    {"ReadySinceNobodyKnowsWhenFirst",
     [](TestPod& z, TestPod& a) {
       z.facts.ready_since = kNoTime;
       a.facts.ready_since = kNow;
     }},
    {"ReadySinceNobodyKnowsWhenFirstOnAnExactScale",
     [](TestPod& z, TestPod& a) {
       z.facts.ready_since = kNoTime;
       a.facts.ready_since = kNow;
     },
     kExactTimes},
    {"ReadyJustNowBeforeAnySecondAgo",
     [](TestPod& z, TestPod& a) {
       z.facts.ready_since = kNow;
       a.facts.ready_since = kNow - 1s;
     }},
    {"TimeReadyOfThoseNotReadyDoesNotMatter",
     [](TestPod& z, TestPod& a) {
       z.facts.ready = a.facts.ready = false;
       z.facts.ready_since = kNow - 1h;
     },
     {},
     false},
    {"MoreRestartsFirst",
     [](TestPod& z, TestPod& a) {
       z.facts.restarts = 1;
       a.facts.sidecar_restarts = 9;
       a.facts.created = kNow - 1h;
     }},
    {"MoreRestartsOfASidecarFirst",
     [](TestPod& z, TestPod& a) {
       z.facts.sidecar_restarts = 1;
       a.facts.created = kNow - 1h;
     }},
    {"CreatedLaterFirst", [](TestPod& z, TestPod&) { z.facts.created = kNow - 1h; }},
    {"CreatedAlmostAtOnceIsTheSame", [](TestPod& z, TestPod&) { z.facts.created = kNow - 23h; }, {}, false},
    {"CreatedAlmostAtOnceIsNotTheSameOnAnExactScale",
     [](TestPod& z, TestPod&) { z.facts.created = kNow - 23h; }, kExactTimes},
    {"CreatedNobodyKnowsWhenFirst",
     [](TestPod& z, TestPod& a) {
       z.facts.created = kNoTime;
       a.facts.created = kNow;
     }},
    {"AlikeInEverythingTheUidDecides", [](TestPod&, TestPod&) {}, {}, false},
};

INSTANTIATE_TEST_SUITE_P(Criteria, PodRanking, testing::ValuesIn(kCriteria),
                         [](const auto& info) { return info.param.name; });

// The bounds of Kubernetes' buckets are powers of two of nanoseconds: 2^35 ns are 34.36 s.
TEST(PodChoice, BucketsAreOfNanoseconds) {
  TestPod younger{.uid = "z"};
  TestPod older{.uid = "a"};
  younger.facts.ready_since = kNow - 34s;
  older.facts.ready_since = kNow - 35s;
  EXPECT_THAT(Sorted({older, younger}, {}), ElementsAre("z", "a"));
  younger.facts.ready_since = kNow - 35s;
  older.facts.ready_since = kNow - 68s;
  EXPECT_THAT(Sorted({older, younger}, {}), ElementsAre("a", "z"));
  older.facts.ready_since = kNow - 69s;
  EXPECT_THAT(Sorted({older, younger}, {}), ElementsAre("z", "a"));
}

// A picker ranks the chosen 0, the tied 1 and all others 3.
TEST(PodChoice, OfAPickersRanksTheLowerGoesFirst) {
  TestPod chosen{.uid = "chosen"}, tied{.uid = "tied"}, other{.uid = "other"};
  chosen.rank = 0;
  tied.rank = 1;
  other.rank = 3;
  EXPECT_THAT(Sorted({other, tied, chosen}, {.picked = true}), ElementsAre("chosen", "tied", "other"));
  EXPECT_THAT(Sorted({chosen, tied, other}, {}), ElementsAre("other", "tied", "chosen"));
}

// The pairs (b, c) and (c, a) differ by uid, (a, b), ready since the same second, by restarts: a cycle.
TEST(PodChoice, ARingOfPodsIsSortedSomehow) {
  std::vector<TestPod> pods;
  for (int i = 0; i < 300; ++i) {
    TestPod pod{.uid = "uid-" + std::to_string((i * 7919) % 1000)};
    pod.facts.ready_since = kNow - 24h + std::chrono::seconds(i % 3);
    pod.facts.restarts = i % 5;
    pods.push_back(pod);
  }
  std::vector<std::string> sorted = Sorted(pods, {});
  std::vector<std::string> uids;
  for (const TestPod& pod : pods) uids.push_back(pod.uid);
  EXPECT_THAT(sorted, testing::UnorderedElementsAreArray(uids));
  EXPECT_EQ(Sorted(pods, {}), sorted);
}

// Choosing a few of many gives the first ones of the full order.
TEST(PodChoice, AFewAreTheFirstOfAll) {
  api::Prng prng(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<TestPod> pods;
    const std::size_t size = 1 + prng.Below(30);
    for (std::size_t i = 0; i < size; ++i) {
      TestPod pod{.uid = prng.Uuid()};
      pod.facts.assigned = prng.Below(5) > 0;
      pod.facts.ready = prng.Below(4) > 0;
      pod.facts.deletion_cost = static_cast<int>(prng.Below(2));
      pod.facts.ready_since = kNow - std::chrono::seconds(1 + i);  // no two equal: no cycles
      pod.rank = static_cast<int>(prng.Below(3));
      pods.push_back(pod);
    }
    std::vector<std::string> all = Sorted(pods, {});
    for (std::size_t count = 0; count <= size; ++count) {
      std::vector<std::string> few = Sorted(pods, {}, count);
      few.resize(count);
      EXPECT_THAT(few,
                  testing::ElementsAreArray(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)));
    }
  }
}

// Processor seconds for choosing half of the pods; the least of several rounds, since others use the machine.
double SecondsToChoose(const std::vector<TestPod>& pods, const RankingRules& rules) {
  std::vector<api::ObjectPtr> objects;
  std::vector<RankedPod> ranked;
  for (const TestPod& pod : pods) {
    objects.push_back(controllers_testing::MakeObject({{"metadata", {{"name", pod.uid}, {"uid", pod.uid}}}}));
    ranked.push_back({objects.back().get(), &pod.facts, pod.rank});
  }
  double least = 1e9;
  for (int round = 0; round < 7; ++round) {
    std::vector<RankedPod> copy = ranked;
    const std::clock_t begin = std::clock();
    ChooseForDeletion(copy, copy.size() / 2, rules);
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

// KEP-2255, "increasing time taken by any operations": the cost is one more sort key. A quadratic order of
// these pods would take hundreds of times as long as without costs.
TEST(PodChoice, CostsDoNotMultiplyTheProcessorTimeOfRanking) {
  api::Prng prng(5);
  std::vector<TestPod> pods;
  for (int i = 0; i < 5000; ++i) {
    TestPod pod{.uid = prng.Uuid()};
    pod.facts.deletion_cost = static_cast<int>(prng.Below(1000));
    pod.facts.ready_since = kNow - std::chrono::seconds(1 + prng.Below(86400));
    pods.push_back(pod);
  }
  const double without = SecondsToChoose(pods, {.now = kNow, .deletion_cost = false});
  ASSERT_GT(without, 0) << "too few pods to measure";
  EXPECT_LT(SecondsToChoose(pods, {.now = kNow}), 10 * without);
  for (TestPod& pod : pods) pod.facts.deletion_cost = 7;
  EXPECT_LT(SecondsToChoose(pods, {.now = kNow}), 10 * without) << "with the same cost for all";
}

}  // namespace
}  // namespace terrarium::controllers::replicaset
