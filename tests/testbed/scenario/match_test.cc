#include "testbed/scenario/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::testbed::scenario {
namespace {

Json J(const char* text) { return Json::parse(text); }

TEST(Match, AMappingMatchesWithMoreKeysThanWanted) {
  EXPECT_TRUE(Matches(J(R"({"a": {"b": 1}})"), J(R"({"a": {"b": 1, "c": 2}, "d": 3})")));
  EXPECT_FALSE(Matches(J(R"({"a": {"b": 1}})"), J(R"({"a": {"b": 2}})")));
  EXPECT_FALSE(Matches(J(R"({"a": {"b": 1}})"), J(R"({})")));
}

TEST(Match, NullMeansAbsentAndEmptyMeansNothingThere) {
  EXPECT_TRUE(Matches(J(R"({"a": null})"), J(R"({"b": 1})")));
  EXPECT_FALSE(Matches(J(R"({"a": null})"), J(R"({"a": 0})")));
  EXPECT_TRUE(Matches(J(R"({"a": {}, "b": []})"), J(R"({})")));
  EXPECT_FALSE(Matches(J(R"({"b": []})"), J(R"({"b": [1]})")));
}

TEST(Match, AListOfMappingsIsFoundInWhateverOrder) {
  const Json got = J(R"([{"type": "A", "status": "True"}, {"type": "B", "status": "False"}])");
  EXPECT_TRUE(Matches(J(R"([{"type": "B"}, {"type": "A"}])"), got));
  EXPECT_FALSE(Matches(J(R"([{"type": "B", "status": "True"}])"), got));
  EXPECT_FALSE(Matches(J(R"([{"status": "True"}, {"status": "True"}])"), got)) << "each needs one of its own";
}

TEST(Match, AnyOtherListIsEqual) {
  EXPECT_TRUE(Matches(J(R"(["a", "b"])"), J(R"(["a", "b"])")));
  EXPECT_FALSE(Matches(J(R"(["b", "a"])"), J(R"(["a", "b"])")));
  EXPECT_FALSE(Matches(J(R"(["a"])"), J(R"(["a", "b"])")));
}

TEST(Match, ComparisonsOfNumbersTextsAndPresence) {
  const Json got = J(R"({"n": 3, "t": "Scaled up to 3", "x": {}})");
  EXPECT_TRUE(Matches(J(R"({"n": {"atLeast": 3, "atMost": 3}})"), got));
  EXPECT_FALSE(Matches(J(R"({"n": {"atLeast": 4}})"), got));
  EXPECT_FALSE(Matches(J(R"({"n": {"atMost": 2}})"), got));
  EXPECT_FALSE(Matches(J(R"({"missing": {"atMost": 2}})"), got)) << "an absent value is not a number";
  EXPECT_TRUE(Matches(J(R"({"t": {"like": "Scaled * to 3"}})"), got));
  EXPECT_FALSE(Matches(J(R"({"t": {"like": "Scaled"}})"), got));
  EXPECT_TRUE(Matches(J(R"({"x": {"present": true}})"), got));
  EXPECT_FALSE(Matches(J(R"({"y": {"present": true}})"), got));
  EXPECT_TRUE(Matches(J(R"({"n": {"not": 4}, "y": {"not": 4}})"), got));
  EXPECT_FALSE(Matches(J(R"({"n": {"not": {"atLeast": 1}}})"), got));
}

TEST(Match, DifferencesNameTheFieldsThatDifferAndNoOthers) {
  const Json got = J(R"({"spec": {"replicas": 3}, "status": {"ready": 1, "conditions":
                        [{"type": "Available", "status": "False", "reason": "R"}, {"type": "Progressing"}]}})");
  const Json want = J(R"({"spec": {"replicas": 3}, "status": {"ready": 2, "gone": 1, "conditions":
                        [{"type": "Available", "status": "True"}, {"type": "Other"}]}})");
  std::vector<std::string> lines;
  for (const Difference& each : Differences(want, got))
    lines.push_back(each.path + " | " + each.expected + " | " + each.got);
  EXPECT_THAT(
      lines,
      testing::ElementsAre(
          R"(status.conditions[type=Available].status | "True" | "False")",
          R"(status.conditions | an item that matches {"type":"Other"} | items with type Available, Progressing)",
          "status.gone | 1 | (absent)", "status.ready | 2 | 1"));
  EXPECT_TRUE(Differences(J(R"({"spec": {"replicas": {"atLeast": 1}}})"), got).empty());
}

TEST(Like, AStarStandsForAnything) {
  EXPECT_TRUE(Like("", ""));
  EXPECT_TRUE(Like("*", ""));
  EXPECT_TRUE(Like("a*b*c", "a__b_bb__c"));
  EXPECT_TRUE(Like("*quota*", "exceeded quota: memory"));
  EXPECT_FALSE(Like("a*b", "a_c"));
  EXPECT_FALSE(Like("abc", "abcd"));
}

}  // namespace
}  // namespace terrarium::testbed::scenario
