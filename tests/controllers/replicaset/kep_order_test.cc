// The order of deletion of KEP-3189, with and without a picker.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/replicaset/internal/pod_ranking.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::replicaset {
namespace {

using namespace std::chrono_literals;

const api::Time kNow = controllers_testing::FakeRuntime::kStart;

// Numbered as in the KEP. Of 6 (the picker) and 7 (the nodes) only one applies.
enum Criterion {
  kUnassigned = 1,
  kPending,
  kUnknown,
  kUnready,
  kDeletionCost,
  kPickerRank,
  kNodes,
  kTimeReady,
  kRestarts,
  kCreated
};

struct Rules {
  bool picked = false;
  bool logarithmic = true;
};

struct TestPod {
  explicit TestPod(const std::string& uid, bool picked)
      : object(controllers_testing::MakeObject({{"metadata", {{"name", uid}, {"uid", uid}}}})),
        rank(picked ? 3 : 1) {}
  api::ObjectPtr object;
  PodFacts facts = {.active = true,
                    .ready = true,
                    .ready_since = kNow - 24h,
                    .created = kNow - 24h,
                    .assigned = true,
                    .phase = api::Phase::kRunning};
  int rank;
};

// Makes a pod the first to be deleted by that criterion.
void SpeakFor(TestPod& pod, int criterion, bool picked) {
  switch (criterion) {
    case kUnassigned: pod.facts.assigned = false; break;
    case kPending: pod.facts.phase = api::Phase::kPending; break;
    case kUnknown: pod.facts.phase = api::Phase::kUnknown; break;
    case kUnready: pod.facts.ready = false; break;
    case kDeletionCost: pod.facts.deletion_cost = -1; break;
    case kPickerRank:
      if (picked) pod.rank = 1;
      break;
    case kNodes:
      if (!picked) pod.rank = 2;
      break;
    case kTimeReady: pod.facts.ready_since = kNow - 1h; break;
    case kRestarts: pod.facts.restarts = 3; break;
    case kCreated: pod.facts.created = kNow - 1h; break;
    default: FAIL();
  }
}

std::string First(const TestPod& x, const TestPod& y, const Rules& rules) {
  std::vector<RankedPod> pods = {{x.object.get(), &x.facts, x.rank}, {y.object.get(), &y.facts, y.rank}};
  ChooseForDeletion(pods, 1, {.now = kNow, .logarithmic = rules.logarithmic, .picked = rules.picked});
  return pods[0].pod->header().uid;
}

class KepOrder : public testing::TestWithParam<Rules> {};

TEST_P(KepOrder, EachCriterionDecidesAgainstAllThatComeAfterIt) {
  const bool picked = GetParam().picked;
  for (int criterion = kUnassigned; criterion <= kCreated; ++criterion) {
    if (criterion == (picked ? kNodes : kPickerRank)) continue;
    TestPod first("z", picked);
    TestPod second("a", picked);
    SpeakFor(first, criterion, picked);
    for (int later = criterion + 1; later <= kCreated; ++later) SpeakFor(second, later, picked);
    // Several criteria are expressed by the phase: here only this one may decide by it.
    if (criterion == kUnassigned) second.facts.phase = api::Phase::kPending;
    if (criterion == kPending) second.facts.phase = api::Phase::kUnknown;
    EXPECT_EQ(First(first, second, GetParam()), "z") << "criterion " << criterion;
    EXPECT_EQ(First(second, first, GetParam()), "z") << "criterion " << criterion;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, KepOrder,
                         testing::Values(Rules{false, true}, Rules{false, false}, Rules{true, true},
                                         Rules{true, false}),
                         [](const auto& info) {
                           return std::string(info.param.picked ? "WithAPicker" : "WithoutAPicker") +
                                  (info.param.logarithmic ? "Logarithmic" : "Exact");
                         });

TEST(PickerRanks, TheChosenGoBeforeTheTiedAndTheTiedBeforeTheOthers) {
  TestPod chosen("z", true), tied("y", true), other("a", true);
  chosen.rank = 0;
  tied.rank = 1;
  const Rules rules{.picked = true};
  EXPECT_EQ(First(tied, chosen, rules), "z");
  EXPECT_EQ(First(other, tied, rules), "y");
  EXPECT_EQ(First(other, chosen, rules), "z");
}

}  // namespace
}  // namespace terrarium::controllers::replicaset
