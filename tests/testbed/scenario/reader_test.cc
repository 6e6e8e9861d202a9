#include "testbed/scenario/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testbed/scenario/bad_files.h"

namespace terrarium::testbed::scenario {
namespace {

using testing::ElementsAre;

std::vector<std::string> MistakesIn(const std::string& text) {
  std::vector<std::string> out;
  for (const FileMistake& mistake : ReadScenarioText("f.yaml", text).mistakes)
    out.push_back(mistake.String());
  return out;
}

TEST(ScenarioReader, EveryErrorHasItsLineAndColumn) {
  for (const BadFile& bad : kBadFiles) {
    SCOPED_TRACE(bad.text);
    EXPECT_THAT(MistakesIn(bad.text), ElementsAre(testing::StartsWith("f.yaml:" + std::string(bad.mistake))));
  }
}

TEST(ScenarioReader, AllErrorsOfAFileAreReportedInTheOrderOfTheText) {
  EXPECT_THAT(MistakesIn("scenario: x\nwhat: 1\nsteps:\n  - advance: 5\n  - expect: pods\n    cuont: 3\n"),
              ElementsAre("f.yaml:2:1: unknown key \"what\" in a scenario: it has scenario, description, "
                          "options, each or steps",
                          "f.yaml:4:14: 5 is not a duration like 90s or 1h30m",
                          "f.yaml:6:5: unknown key \"cuont\" in the step expect (did you mean count?)"));
}

TEST(ScenarioReader, AnErrorInEveryCombinationIsReportedOnce) {
  EXPECT_THAT(MistakesIn("scenario: x\neach: {a: [1, 2, 3]}\nsteps:\n  - advance: ${a}\n  - expekt: pods\n"),
              ElementsAre("f.yaml:4:14: 1 is not a duration like 90s or 1h30m",
                          "f.yaml:4:14: 2 is not a duration like 90s or 1h30m",
                          "f.yaml:4:14: 3 is not a duration like 90s or 1h30m",
                          "f.yaml:5:5: the step has no verb, \"expekt\" is not one (did you mean expect?)"));
}

TEST(ScenarioReader, AnErrorInAnAliasIsReportedAtItsAnchor) {
  EXPECT_THAT(MistakesIn("scenario: x\nsteps:\n  - expect: pod/a\n    match: &m {spec: {nodename: n}}\n"
                         "  - expect: pod/b\n    match: *m\n"),
              ElementsAre("f.yaml:4:23: PodSpec has no field \"nodename\" (did you mean nodeName?)"));
}

TEST(ScenarioReader, ADocumentForEachScenarioAndARunForEachCombination) {
  ReadScenarios read = ReadScenarioText("f.yaml", R"(
scenario: first
options: {seeds: [4, 5]}
steps: [{advance: 1s}]
---
scenario: with ${policy}
description: more
each: {policy: [A, B]}
steps:
  - advance: 1s
  - when: {policy: B}
    name: only B
    advance: 2s
---
scenario: numbered
each: {size: [1, 2]}
steps: []
)");
  ASSERT_TRUE(read.mistakes.empty()) << read.mistakes[0].String();
  std::vector<std::string> names;
  for (const Scenario& each : read.scenarios) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("first", "with A", "with B", "numbered [size=1]", "numbered [size=2]"));
  EXPECT_THAT(read.scenarios[0].seeds, ElementsAre(4u, 5u));
  EXPECT_EQ(read.scenarios[1].description, "more");
  EXPECT_EQ(read.scenarios[1].steps.size(), 1u);
  ASSERT_EQ(read.scenarios[2].steps.size(), 2u);
  EXPECT_EQ(read.scenarios[2].steps[1].Title(), "only B");
  EXPECT_EQ(read.scenarios[2].steps[1].place.line, 11);
}

TEST(ScenarioReader, AFieldThatTheServerIsToRefuseIsLeftToIt) {
  constexpr const char* kStep =
      "scenario: x\nsteps:\n  - create:\n      apiVersion: v1\n      kind: Pod\n"
      "      metadata: {name: a}\n      spec: {continers: []}\n";
  EXPECT_EQ(MistakesIn(kStep).size(), 1u);
  EXPECT_TRUE(MistakesIn(std::string(kStep) + "    refused: {code: 400}\n").empty());
}

}  // namespace
}  // namespace terrarium::testbed::scenario
