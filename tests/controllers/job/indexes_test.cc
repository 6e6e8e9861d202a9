#include "controllers/job/internal/indexes.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "api/base/prng.h"
#include "tests/controllers/job/rules_testing.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;
using testing::Deleting;
using testing::OfIndex;
using testing::Pod;

constexpr int kNoEnd = 1'000'000;

TEST(IndexSet, IsWrittenAsRangesOfThreeAndMore) {
  EXPECT_EQ(IndexSet().String(), "");
  EXPECT_EQ(IndexSet({4}).String(), "4");
  EXPECT_EQ((IndexSet{0, 1}).String(), "0,1");
  EXPECT_EQ((IndexSet{5, 0, 1, 2, 3, 3}).String(), "0-3,5");
  EXPECT_EQ((IndexSet{1, 2, 4, 5, 6, 9}).String(), "1,2,4-6,9");
}

TEST(IndexSet, TextReadsAsTheSetItWasWrittenFrom) {
  for (const char* text : {"", "0", "0,1", "0-3,5", "1,2,4-6,9", "3-5,7-99"})
    EXPECT_EQ(IndexSet::Parse(text, kNoEnd).String(), text);
  EXPECT_EQ(IndexSet::Parse("0,1,2", kNoEnd).String(), "0-2");
  EXPECT_EQ(IndexSet::Parse("0-3,5", kNoEnd).size(), 5);
}

TEST(IndexSet, ReadingStopsAtTheEndOfASmallerJob) {
  EXPECT_EQ(IndexSet::Parse("0-3,5-9,12", 7).String(), "0-3,5,6");
  EXPECT_EQ(IndexSet::Parse("0-3,5-9,12", 5).String(), "0-3");
  EXPECT_EQ(IndexSet::Parse("5", 5).String(), "");
  EXPECT_EQ(IndexSet::Parse("0-3", 0).String(), "");
}

TEST(IndexSet, WhatCannotBeReadIsLeftOut) {
  EXPECT_EQ(IndexSet::Parse("0,1-foo,bar", kNoEnd).String(), "0");
  EXPECT_EQ(IndexSet::Parse("foo,2,-3,4-,x-7,9", kNoEnd).String(), "2,9");
  EXPECT_EQ(IndexSet::Parse(",, 1,2 ,3", kNoEnd).String(), "3");
  EXPECT_EQ(IndexSet::Parse("7-4,9", kNoEnd).String(), "9");
  EXPECT_EQ(IndexSet::Parse("1,99999999999999999999", kNoEnd).String(), "1");
  EXPECT_EQ(IndexSet::Parse("1-99999999999", 4).String(), "1-3");
}

TEST(IndexSet, TextThatIsNotAscendingIsStillASet) {
  EXPECT_EQ(IndexSet::Parse("4-6,1,5-8", kNoEnd), (IndexSet{1, 4, 5, 6, 7, 8}));
}

TEST(IndexSet, NewIndexesJoinTheirNeighbours) {
  IndexSet set = IndexSet::Parse("0-2,6-8", kNoEnd);
  set.Insert({4});
  EXPECT_EQ(set.String(), "0-2,4,6-8");
  set.Insert({3});
  EXPECT_EQ(set.String(), "0-4,6-8");
  set.Insert({5});
  EXPECT_EQ(set.String(), "0-8");
  set.Insert({5, 9});
  EXPECT_EQ(set.String(), "0-9");
  EXPECT_EQ(set.size(), 10);
}

TEST(IndexSet, SetsAreMergedWhereverTheyOverlap) {
  auto merged = [](const char* a, const char* b) {
    IndexSet set = IndexSet::Parse(a, kNoEnd);
    set.Insert(IndexSet::Parse(b, kNoEnd));
    return set.String();
  };
  EXPECT_EQ(merged("", "3-5"), "3-5");
  EXPECT_EQ(merged("3-5", ""), "3-5");
  EXPECT_EQ(merged("3-5", "0"), "0,3-5");
  EXPECT_EQ(merged("0-9", "2,4,12"), "0-9,12");
  EXPECT_EQ(merged("2,8", "0,4-6,10"), "0,2,4-6,8,10");
  EXPECT_EQ(merged("2,8", "1,3-7"), "1-8");
}

TEST(IndexSet, AgreesWithAPlainSetWhateverIsInserted) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    api::Prng prng(seed);
    IndexSet set, other;
    std::set<int> plain, plain_other;
    for (int i = 0; i < 60; ++i) {
      int index = static_cast<int>(prng.Below(80));
      set.Insert({index});
      plain.insert(index);
      index = static_cast<int>(prng.Below(80));
      other.Insert({index});
      plain_other.insert(index);
    }
    std::vector<int> shared;
    std::set_intersection(plain.begin(), plain.end(), plain_other.begin(), plain_other.end(),
                          std::back_inserter(shared));
    ASSERT_EQ(set.SharedWith(other), static_cast<int>(shared.size())) << "seed " << seed;
    set.Insert(other);
    plain.insert(plain_other.begin(), plain_other.end());
    ASSERT_EQ(set.size(), static_cast<int>(plain.size())) << "seed " << seed;
    for (int index = 0; index < 82; ++index)
      ASSERT_EQ(set.Has(index), plain.contains(index)) << "seed " << seed;
    ASSERT_EQ(IndexSet::Parse(set.String(), kNoEnd), set) << "seed " << seed;
    ASSERT_EQ(IndexSet::Of({plain.begin(), plain.end()}), set) << "seed " << seed;
  }
}

std::vector<int> Pending(int count, int completions, std::vector<IndexSet> taken) {
  std::vector<const IndexSet*> sets;
  for (const IndexSet& set : taken) sets.push_back(&set);
  return FirstPendingIndexes(count, completions, sets);
}

TEST(FirstPendingIndexes, AreTheLowestWithoutAPod) {
  EXPECT_EQ(Pending(3, 10, {}), (std::vector{0, 1, 2}));
  EXPECT_EQ(Pending(20, 4, {}), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(Pending(0, 4, {}), std::vector<int>());
  EXPECT_EQ(Pending(3, 10, {IndexSet{0, 1, 2, 4}}), (std::vector{3, 5, 6}));
  EXPECT_EQ(Pending(3, 6, {IndexSet{0, 2}, IndexSet{3}, IndexSet{5}}), (std::vector{1, 4}));
  EXPECT_EQ(Pending(1, 3, {IndexSet{0, 1}, IndexSet{2, 7}}), std::vector<int>());
}

TEST(FirstPendingIndexes, AgreeWithTryingThemAll) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    api::Prng prng(seed);
    std::vector<IndexSet> taken(3);
    for (IndexSet& set : taken)
      for (int i = 0; i < 15; ++i) set.Insert({static_cast<int>(prng.Below(50))});
    std::vector<int> expected;
    for (int index = 0; index < 45 && expected.size() < 12; ++index)
      if (!taken[0].Has(index) && !taken[1].Has(index) && !taken[2].Has(index)) expected.push_back(index);
    ASSERT_EQ(Pending(12, 45, taken), expected) << "seed " << seed;
  }
}

CountingRules Indexed(int completions) {
  CountingRules rules;
  rules.index_end = completions;
  return rules;
}

TEST(FailsItsIndex, WhenTheIndexHasHadItsFailures) {
  PodFacts pod = OfIndex(0, Pod("a", Phase::kFailed));
  EXPECT_TRUE(FailsItsIndex(pod, Indexed(3), {}, 0));
  EXPECT_FALSE(FailsItsIndex(pod, Indexed(3), {}, 1));
  pod.index_failures = 1;
  EXPECT_TRUE(FailsItsIndex(pod, Indexed(3), {}, 1));
  pod.phase = Phase::kRunning;
  EXPECT_FALSE(FailsItsIndex(pod, Indexed(3), {}, 0));
}

TEST(FailsItsIndex, ByAFailIndexRule) {
  const PodFacts pod = OfIndex(0, Pod("a", Phase::kFailed));
  FailureVerdict fail_index{.action = FailureAction::kFailIndex, .counts = true, .fail_job_message = {}};
  EXPECT_TRUE(FailsItsIndex(pod, Indexed(3), fail_index, 6));
  FailureVerdict ignore{.action = FailureAction::kIgnore, .counts = false, .fail_job_message = {}};
  EXPECT_FALSE(FailsItsIndex(pod, Indexed(3), ignore, 0));
}

TEST(FailsItsIndex, ATerminatingPodOnlyWhereItCountsAsFailed) {
  const PodFacts pod = Deleting(OfIndex(0, Pod("a", Phase::kRunning)));
  CountingRules rules = Indexed(3);
  EXPECT_TRUE(FailsItsIndex(pod, rules, {}, 0));
  rules.only_replace_failed = true;
  EXPECT_FALSE(FailsItsIndex(pod, rules, {}, 0));
}

std::map<int, std::string> Kept(const std::vector<PodFacts>& pods, const Uncounted& uncounted = {},
                                const std::vector<IndexSet>& taken = {}) {
  std::vector<const PodFacts*> pointers;
  for (const PodFacts& pod : pods) pointers.push_back(&pod);
  std::vector<const IndexSet*> sets;
  for (const IndexSet& set : taken) sets.push_back(&set);
  std::map<int, std::string> uids;
  for (const auto& [index, pod] : PodsKeptForTheirIndex(pointers, Indexed(5), uncounted, sets))
    uids[index] = pod->uid;
  return uids;
}

TEST(PodsKeptForTheirIndex, FailedPodsOfIndexesThatAreToRunAgain) {
  std::vector<PodFacts> pods = {
      OfIndex(0, Pod("a", Phase::kFailed)), OfIndex(1, Pod("b", Phase::kRunning)),
      OfIndex(2, Pod("c", Phase::kFailed)), OfIndex(3, Pod("d", Phase::kFailed)),
      OfIndex(4, Pod("e", Phase::kFailed)), OfIndex(5, Pod("beyond", Phase::kFailed)),
      Pod("no-index", Phase::kFailed)};
  EXPECT_EQ(Kept(pods), (std::map<int, std::string>{{0, "a"}, {2, "c"}, {3, "d"}, {4, "e"}}));
  // One has succeeded, one has failed permanently, one has its next pod.
  EXPECT_EQ(Kept(pods, {}, {IndexSet{0}, IndexSet{2}, IndexSet{3}}), (std::map<int, std::string>{{4, "e"}}));
}

TEST(PodsKeptForTheirIndex, NotThoseWhoseFinalizerIsGoing) {
  PodFacts counted = OfIndex(0, Pod("a", Phase::kFailed));
  counted.has_finalizer = false;
  Uncounted uncounted;
  uncounted.finalizer_removals = {"b"};
  EXPECT_TRUE(Kept({counted, OfIndex(1, Pod("b", Phase::kFailed))}, uncounted).empty());
  // An index in the status is not a reason: the pod still has the failure count for the next one.
  uncounted.failed = {"c"};
  EXPECT_EQ(Kept({OfIndex(2, Pod("c", Phase::kFailed))}, uncounted), (std::map<int, std::string>{{2, "c"}}));
}

TEST(PodsKeptForTheirIndex, OfSeveralTheLastToFail) {
  PodFacts first = OfIndex(0, Pod("first", Phase::kFailed));
  PodFacts second = OfIndex(0, Pod("second", Phase::kFailed));
  second.index_ignored_failures = 1;
  EXPECT_EQ(Kept({first, second}), (std::map<int, std::string>{{0, "second"}}));
  EXPECT_EQ(Kept({second, first}), (std::map<int, std::string>{{0, "second"}}));
  second.index_ignored_failures = 0;
  second.finish_time = testing::kNoon;
  EXPECT_EQ(Kept({first, second}), (std::map<int, std::string>{{0, "second"}}));
  EXPECT_EQ(Kept({second, first}), (std::map<int, std::string>{{0, "second"}}));
}

std::vector<std::string> Removed(const std::vector<PodFacts>& pods, std::optional<int> completions,
                                 int at_least) {
  std::vector<const PodFacts*> pointers;
  for (const PodFacts& pod : pods) pointers.push_back(&pod);
  std::vector<std::string> uids;
  for (const PodFacts* pod : PodsToRemove(pointers, completions, at_least)) uids.push_back(pod->uid);
  return uids;
}

TEST(PodsToRemove, DuplicatesOfAnIndexAndPodsOfNone) {
  std::vector<PodFacts> pods = {OfIndex(1, Pod("waiting", Phase::kPending)),
                                OfIndex(1, Pod("works", Phase::kRunning)), Pod("no-index", Phase::kRunning),
                                OfIndex(0, Pod("only", Phase::kPending)),
                                OfIndex(4, Pod("beyond", Phase::kRunning))};
  EXPECT_EQ(Removed(pods, 4, 0), (std::vector<std::string>{"no-index", "waiting", "beyond"}));
  // Duplicates count towards the number of pods to delete.
  EXPECT_EQ(Removed(pods, 4, 3), (std::vector<std::string>{"no-index", "waiting", "beyond"}));
  EXPECT_EQ(Removed(pods, 4, 4), (std::vector<std::string>{"no-index", "waiting", "beyond", "only"}));
  EXPECT_EQ(Removed(pods, 4, 9).size(), 5u);
}

TEST(PodsToRemove, WithoutIndexesTheLeastAdvanced) {
  PodFacts bound = Pod("bound", Phase::kPending);
  bound.assigned = true;
  PodFacts running = Pod("running", Phase::kRunning);
  running.assigned = true;
  PodFacts ready = running;
  ready.uid = "ready";
  ready.ready = true;
  std::vector<PodFacts> pods = {ready, running, bound, Pod("waiting", Phase::kPending)};
  EXPECT_EQ(Removed(pods, std::nullopt, 0), std::vector<std::string>());
  EXPECT_EQ(Removed(pods, std::nullopt, 3), (std::vector<std::string>{"waiting", "bound", "running"}));
}

TEST(NextIndexFailures, CountOneMoreThanThePodThatIsReplaced) {
  EXPECT_EQ(NextIndexFailures(nullptr, true), (IndexFailures{0, 0}));
  PodFacts pod = Pod("a", Phase::kFailed);
  EXPECT_EQ(NextIndexFailures(&pod, true), (IndexFailures{1, 0}));
  EXPECT_EQ(NextIndexFailures(&pod, false), (IndexFailures{0, 1}));
  pod.index_failures = 3;
  pod.index_ignored_failures = 2;
  EXPECT_EQ(NextIndexFailures(&pod, true), (IndexFailures{4, 2}));
  EXPECT_EQ(NextIndexFailures(&pod, false), (IndexFailures{3, 3}));
}

TEST(IndexedPods, AreNamedByJobAndIndexWithRoomForFiveLetters) {
  EXPECT_EQ(IndexedGenerateName("indexed-job", 1), "indexed-job-1-");
  EXPECT_EQ(IndexedGenerateName(std::string(63, 'j'), 1), std::string(55, 'j') + "-1-");
  EXPECT_EQ(IndexedGenerateName(std::string(54, 'j'), 12), std::string(54, 'j') + "-12-");
  EXPECT_EQ(IndexedGenerateName(std::string(55, 'j'), 12), std::string(54, 'j') + "-12-");
}

TEST(IndexedPods, HaveTheirIndexInAnnotationLabelAndHostname) {
  Json pod_template = {{"spec", {{"containers", {{{"name", "c"}}}}}}};
  SetCompletionIndex(pod_template, "pi", 7);
  Json expected = {{"metadata",
                    {{"annotations", {{"batch.kubernetes.io/job-completion-index", "7"}}},
                     {"labels", {{"batch.kubernetes.io/job-completion-index", "7"}}}}},
                   {"spec", {{"hostname", "pi-7"}, {"containers", {{{"name", "c"}}}}}}};
  EXPECT_EQ(pod_template, expected);
  EXPECT_EQ(CompletionIndexOf(pod_template), 7);
}

TEST(IndexedPods, EveryContainerWithoutTheVariableGetsIt) {
  Json pod_template = {
      {"spec",
       {{"initContainers", {{{"name", "i"}}}},
        {"containers",
         {{{"name", "own"}, {"env", {{{"name", "JOB_COMPLETION_INDEX"}, {"value", "mine"}}}}},
          {{"name", "other"}, {"env", {{{"name", "A"}, {"value", "1"}}}}}}}}}};
  Json variable = {
      {"name", "JOB_COMPLETION_INDEX"},
      {"valueFrom",
       {{"fieldRef", {{"fieldPath", "metadata.labels['batch.kubernetes.io/job-completion-index']"}}}}}};
  AddCompletionIndexEnv(pod_template);
  EXPECT_EQ(pod_template["spec"]["initContainers"][0]["env"], Json::array({variable}));
  EXPECT_EQ(pod_template["spec"]["containers"][0]["env"].size(), 1u);
  EXPECT_EQ(pod_template["spec"]["containers"][0]["env"][0]["value"], "mine");
  EXPECT_EQ(pod_template["spec"]["containers"][1]["env"][1], variable);
}

TEST(IndexedPods, HaveAnIgnoredFailuresAnnotationOnlyAboveZero) {
  Json pod_template = Json::object();
  SetIndexFailures(pod_template, {.failures = 2, .ignored = 0});
  EXPECT_EQ(pod_template["metadata"]["annotations"],
            (Json{{"batch.kubernetes.io/job-index-failure-count", "2"}}));
  SetIndexFailures(pod_template, {.failures = 2, .ignored = 1});
  EXPECT_EQ(pod_template["metadata"]["annotations"],
            (Json{{"batch.kubernetes.io/job-index-failure-count", "2"},
                  {"batch.kubernetes.io/job-index-ignored-failure-count", "1"}}));
}

}  // namespace
}  // namespace terrarium::controllers::job
