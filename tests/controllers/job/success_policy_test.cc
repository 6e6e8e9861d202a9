#include "controllers/job/internal/success_policy.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::job {
namespace {

using api::Json;

constexpr int kCompletions = 20;

std::optional<int> Match(std::vector<Json> rules, const char* succeeded, int completions = kCompletions) {
  const Json policy = {{"rules", rules}};
  return MatchSuccessPolicy(&policy, completions, IndexSet::Parse(succeeded, completions));
}

Json Indexes(const char* indexes) { return {{"succeededIndexes", indexes}}; }
Json Count(int count) { return {{"succeededCount", count}}; }
Json Both(const char* indexes, int count) {
  return {{"succeededIndexes", indexes}, {"succeededCount", count}};
}

TEST(SuccessPolicy, WithoutRulesOrSuccessesNothingMatches) {
  EXPECT_EQ(MatchSuccessPolicy(nullptr, kCompletions, IndexSet{1}), std::nullopt);
  EXPECT_EQ(Match({}, "0-5"), std::nullopt);
  EXPECT_EQ(Match({Indexes("0"), Count(0)}, ""), std::nullopt);
}

TEST(SuccessPolicy, AllTheRulesIndexesMustHaveSucceeded) {
  EXPECT_EQ(Match({Indexes("0-2")}, "0-2"), 0);
  EXPECT_EQ(Match({Indexes("0-2")}, "0-9"), 0);
  EXPECT_EQ(Match({Indexes("1,4,7-9")}, "0-4,6-12"), 0);
  EXPECT_EQ(Match({Indexes("0-2")}, "0,1"), std::nullopt);
  EXPECT_EQ(Match({Indexes("0-2")}, "1-9"), std::nullopt);
  EXPECT_EQ(Match({Indexes("0-9")}, "0-3,5-9"), std::nullopt);
  EXPECT_EQ(Match({Indexes("3")}, "0-2,4-9"), std::nullopt);
}

TEST(SuccessPolicy, OrAsManyOfThemAsSucceededCount) {
  EXPECT_EQ(Match({Both("0-9", 3)}, "1,5,9"), 0);
  EXPECT_EQ(Match({Both("0-9", 4)}, "1,5,9"), std::nullopt);
  // Other indexes do not count.
  EXPECT_EQ(Match({Both("0-2", 2)}, "2-9"), std::nullopt);
  EXPECT_EQ(Match({Both("0-2", 2)}, "1-9"), 0);
}

TEST(SuccessPolicy, ACountAloneIsOfAnyIndexes) {
  EXPECT_EQ(Match({Count(3)}, "2,7,11"), 0);
  EXPECT_EQ(Match({Count(4)}, "2,7,11"), std::nullopt);
}

TEST(SuccessPolicy, TheFirstRuleThatIsMetIsNamed) {
  EXPECT_EQ(Match({Indexes("9"), Count(2), Indexes("0,1")}, "0,1"), 1);
  EXPECT_EQ(SuccessPolicyMessage(1), "Matched rules at index 1");
}

TEST(SuccessPolicy, ARuleAboutNothingIsNeverMet) {
  EXPECT_EQ(Match({Indexes("foo"), Indexes(""), Both("bar", 0)}, "0-9"), std::nullopt);
  // Beyond the last index of a Job that was scaled down.
  EXPECT_EQ(Match({Indexes("7-9")}, "0-4", 5), std::nullopt);
  EXPECT_EQ(Match({Indexes("4-9")}, "4", 5), 0);
}

}  // namespace
}  // namespace terrarium::controllers::job
