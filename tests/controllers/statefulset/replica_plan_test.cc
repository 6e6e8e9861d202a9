#include "controllers/statefulset/internal/replica_plan.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/controllers/statefulset/rules_testing.h"

namespace terrarium::controllers::statefulset {
namespace {

SetSpec Spec(int replicas, int start = 0) {
  SetSpec spec;
  spec.replicas = replicas;
  spec.start = start;
  spec.partition = 0;
  return spec;
}

std::string NamesOf(const std::vector<StatefulPodPtr>& pods) {
  std::string names;
  for (const StatefulPodPtr& pod : pods) names += (names.empty() ? "" : " ") + pod->facts.name;
  return names;
}

TEST(SortPods, OrdinalsInsideAndOutside) {
  struct Case {
    int replicas;
    int start;
    const char* states;
    const char* condemned;
    int missing;
    int unavailable;
    std::optional<int> first_unavailable;
  };
  const Case cases[] = {
      {3, 0, "rrr", "", 0, 0, std::nullopt},
      {3, 0, "rr", "", 1, 1, 2},
      {3, 0, "-r-", "", 2, 2, 0},
      {2, 0, "rrrr", "web-3 web-2", 0, 0, std::nullopt},
      {2, 0, "rrnn", "web-3 web-2", 0, 2, 2},
      {2, 0, "rnrn", "web-3 web-2", 0, 2, 1},
      {2, 1, "rrr", "web-0", 0, 0, std::nullopt},
      {2, 5, "rrr", "web-2 web-1 web-0", 2, 2, 5},
      {0, 0, "rt", "web-1 web-0", 0, 1, 1},
      {2, 0, "rt", "", 0, 1, 1},
  };
  for (const Case& each : cases) {
    const SetPods sorted = SortPods("web", Spec(each.replicas, each.start), PodsOf(each.states), kNow);
    SCOPED_TRACE(each.states);
    ASSERT_EQ(sorted.replicas.size(), static_cast<std::size_t>(each.replicas));
    int missing = 0;
    for (const Replica& replica : sorted.replicas) missing += replica.pod == nullptr ? 1 : 0;
    EXPECT_EQ(missing, each.missing);
    EXPECT_EQ(NamesOf(sorted.condemned), each.condemned);
    EXPECT_EQ(sorted.unavailable, each.unavailable);
    EXPECT_EQ(sorted.first_unavailable, each.first_unavailable);
  }
}

TEST(SortPods, PodsWithoutAnOrdinalAreIgnored) {
  auto odd = std::make_shared<StatefulPod>(*PodOf(1, 'r'));
  odd->facts.name = "web-01";
  const SetPods sorted = SortPods("web", Spec(2), {PodOf(0, 'r'), odd}, kNow);
  EXPECT_EQ(sorted.replicas[1].pod, nullptr);
  EXPECT_TRUE(sorted.condemned.empty());
}

TEST(SortPods, AnyNumberOfReplicasIsListedInParts) {
  constexpr int kMax = std::numeric_limits<int>::max();
  auto far_pod = std::make_shared<StatefulPod>(*PodOf(1, 'r'));
  far_pod->facts.name = "web-2000000000";
  const SetPods sorted = SortPods("web", Spec(kMax), {PodOf(0, 'r'), far_pod}, kNow);
  EXPECT_EQ(sorted.replicas.size(), 2 + kOrdinalsAhead);
  EXPECT_FALSE(sorted.complete);
  EXPECT_NE(sorted.replicas[0].pod, nullptr);
  EXPECT_TRUE(sorted.condemned.empty());
  EXPECT_EQ(sorted.first_unavailable, 1);
  EXPECT_TRUE(SortPods("web", Spec(kOrdinalsAhead), {}, kNow).complete);
}

TEST(SortPods, OrdinalsEndWithTheLargestThatIsRead) {
  constexpr int kMax = std::numeric_limits<int>::max();
  SetSpec spec = Spec(kMax, kMax - 1);
  const SetPods sorted = SortPods("web", spec, {}, kNow);
  ASSERT_EQ(sorted.replicas.size(), 2U);
  EXPECT_EQ(sorted.replicas[1].ordinal, kMax);
  EXPECT_TRUE(sorted.complete);
  spec.partition = kMax;
  EXPECT_TRUE(UsesCurrentRevision(spec, kMax, 0));
}

TEST(UsesCurrentRevision, BelowThePartition) {
  SetSpec spec = Spec(5, 10);
  spec.partition = 2;
  EXPECT_TRUE(UsesCurrentRevision(spec, 11, 0));
  EXPECT_FALSE(UsesCurrentRevision(spec, 12, 5));
  spec.partition.reset();  // then by the number of pods that have it
  EXPECT_TRUE(UsesCurrentRevision(spec, 13, 4));
  EXPECT_FALSE(UsesCurrentRevision(spec, 14, 4));
  spec.on_delete = true;
  EXPECT_FALSE(UsesCurrentRevision(spec, 10, 5));
}

char StepLetter(const ReplicaStep& step) {
  switch (step.action) {
    case ReplicaStep::Action::kCreate: return 'c';
    case ReplicaStep::Action::kReplaceEnded: return 'd';
    case ReplicaStep::Action::kAwait: return 'w';
    case ReplicaStep::Action::kKeep: return 'k';
  }
  return '?';
}

TEST(NextStep, ByStateAndPolicy) {
  struct Case {
    char state;
    char ordered;
    char parallel;
  };
  const Case cases[] = {{'-', 'c', 'c'}, {'r', 'k', 'k'}, {'n', 'w', 'k'}, {'p', 'w', 'k'},
                        {'t', 'w', 'k'}, {'f', 'd', 'd'}, {'s', 'd', 'd'}};
  for (const Case& each : cases) {
    SetSpec spec = Spec(1);
    const Replica replica{0, PodOf(0, each.state)};
    EXPECT_EQ(StepLetter(NextStep(spec, replica, kNow)), each.ordered) << each.state;
    EXPECT_EQ(EndsSync(spec, NextStep(spec, replica, kNow)), each.ordered != 'k') << each.state;
    spec.parallel = true;
    EXPECT_EQ(StepLetter(NextStep(spec, replica, kNow)), each.parallel) << each.state;
    EXPECT_FALSE(EndsSync(spec, NextStep(spec, replica, kNow))) << each.state;
    EXPECT_EQ(NextStep(spec, replica, kNow).restores_claims, each.state == 'p') << each.state;
  }
}

TEST(NextStep, AnEndedPodIsDeletedOnce) {
  auto pod = std::make_shared<StatefulPod>(*PodOf(0, 'f'));
  pod->facts.deleting = true;
  SetSpec spec = Spec(1);
  EXPECT_EQ(StepLetter(NextStep(spec, {0, pod}, kNow)), 'w');
  spec.parallel = true;
  EXPECT_EQ(StepLetter(NextStep(spec, {0, pod}, kNow)), 'w');
}

TEST(NextStep, WaitsForAvailability) {
  SetSpec spec = Spec(1);
  spec.min_ready = std::chrono::seconds(11);
  const Replica replica{0, PodOf(0, 'r')};  // ready for 10 s
  EXPECT_EQ(StepLetter(NextStep(spec, replica, kNow)), 'w');
  EXPECT_EQ(StepLetter(NextStep(spec, replica, kNow + std::chrono::seconds(1))), 'k');
}

TEST(NextCondemnedStep, ByStateAndPolicy) {
  SetSpec ordered = Spec(0);
  SetSpec parallel = Spec(0);
  parallel.parallel = true;
  auto step = [](const SetSpec& spec, char state, bool first) {
    return NextCondemnedStep(spec, PodOf(0, state)->facts, first, kNow);
  };
  EXPECT_EQ(step(ordered, 'r', false), CondemnedStep::kDelete);
  EXPECT_EQ(step(ordered, 't', true), CondemnedStep::kAwait);
  // Another unhealthy pod with a lower ordinal keeps this one.
  EXPECT_EQ(step(ordered, 'n', false), CondemnedStep::kAwait);
  EXPECT_EQ(step(ordered, 'n', true), CondemnedStep::kDelete);
  EXPECT_EQ(step(parallel, 'n', false), CondemnedStep::kDelete);
  EXPECT_EQ(step(parallel, 't', false), CondemnedStep::kSkip);
  ordered.min_ready = std::chrono::seconds(11);
  EXPECT_EQ(step(ordered, 'r', false), CondemnedStep::kAwait);
  EXPECT_EQ(step(ordered, 'r', true), CondemnedStep::kDelete);
}

struct UpdateCase {
  const char* states;
  int partition;
  std::optional<int> max_unavailable;
  const char* deleted;  // ordinals, in order
};

TEST(PodsToUpdate, Tables) {
  const UpdateCase cases[] = {
      // Without the gate: the highest outdated pod, and none while a newer pod above is unavailable.
      {"rrr", 0, {}, "2"},
      {"rrR", 0, {}, "1"},
      {"rRR", 0, {}, "0"},
      {"RRR", 0, {}, ""},
      {"rrN", 0, {}, ""},
      {"rrt", 0, {}, ""},
      {"rr-", 0, {}, ""},
      {"rnr", 0, {}, "2"},
      {"rnR", 0, {}, "1"},
      {"nrR", 0, {}, "1"},
      {"rrr", 2, {}, "2"},
      {"rrR", 2, {}, ""},
      {"rrr", 3, {}, ""},
      {"rrr", 9, {}, ""},
      // With the gate: as many as maxUnavailable leaves room for.
      {"rrrr", 0, 1, "3"},
      {"rrrr", 0, 2, "3 2"},
      {"rrrr", 0, 9, "3 2 1 0"},
      {"rrrN", 0, 2, "2"},
      {"rrtN", 0, 2, ""},
      {"rrNR", 0, 2, "1"},
      {"nrrr", 0, 2, "3"},
      {"nnrr", 0, 2, ""},
      {"rrrr", 2, 9, "3 2"},
      {"rr-r", 0, 2, "3"},
      {"RRRR", 0, 2, ""},
      {"nrrr", 0, 1, ""},
  };
  for (const UpdateCase& each : cases) {
    const std::string states = each.states;
    SetSpec spec = Spec(static_cast<int>(states.size()));
    spec.partition = each.partition;
    spec.max_unavailable = each.max_unavailable;
    const SetPods sorted = SortPods("web", spec, PodsOf(states), kNow);
    std::string deleted;
    for (const Replica* replica : PodsToUpdate(spec, sorted.replicas, "new", kNow))
      deleted += (deleted.empty() ? "" : " ") + std::to_string(replica->ordinal);
    EXPECT_EQ(deleted, each.deleted) << states << " partition " << each.partition << " maxUnavailable "
                                     << each.max_unavailable.value_or(0);
  }
}

// The partition counts ordinals from the first one.
TEST(PodsToUpdate, PartitionIsRelativeToTheStart) {
  SetSpec spec = Spec(3, 5);
  spec.partition = 2;
  const SetPods sorted = SortPods("web", spec, PodsOf("rrr", 5), kNow);
  const std::vector<const Replica*> chosen = PodsToUpdate(spec, sorted.replicas, "new", kNow);
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(chosen[0]->ordinal, 7);
}

}  // namespace
}  // namespace terrarium::controllers::statefulset
