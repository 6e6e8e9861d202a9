#include "testbed/scenario/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::testbed::scenario {
namespace {

Json J(const char* text) { return Json::parse(text); }

TEST(Parameters, EveryCombinationOfTheirValues) {
  EXPECT_THAT(Combinations(J(R"({"a": [1, 2], "b": ["x", null]})")),
              testing::ElementsAre(J(R"({"a": 1, "b": "x"})"), J(R"({"a": 1, "b": null})"),
                                   J(R"({"a": 2, "b": "x"})"), J(R"({"a": 2, "b": null})")));
  EXPECT_THAT(Combinations(nullptr), testing::ElementsAre(Json::object()));
}

TEST(Parameters, ATextThatIsNothingElseBecomesTheValueItself) {
  const Json values = J(R"({"n": 3, "none": null, "row": {"want": {"atMost": 4}, "name": "r"}})");
  Mistakes mistakes;
  const Json document = J(R"({"a": "${n}", "b": "web-${n}-${row.name}", "c": "${none}", "d": ["${row.want}"],
                              "e": "$${n} costs $5", "${row.name}": 1})");
  EXPECT_EQ(Substitute(document, values, "", mistakes),
            J(R"({"a": 3, "b": "web-3-r", "c": null, "d": [{"atMost": 4}], "e": "${n} costs $5", "r": 1})"));
  EXPECT_TRUE(mistakes.empty());
}

TEST(Parameters, UnknownOnesAreMistakesWithTheirPath) {
  Mistakes mistakes;
  const Json ignored = Substitute(J(R"({"a": ["${polcy}", "${row.wat}", "${open"]})"),
                                  J(R"({"policy": 1, "row": {"want": 1}})"), "", mistakes);
  ASSERT_EQ(mistakes.size(), 3u);
  EXPECT_EQ(mistakes[0].path, "/a/0");
  EXPECT_EQ(mistakes[0].message,
            "${polcy} is not a parameter (did you mean policy?): there are policy or row");
  EXPECT_EQ(mistakes[1].message,
            "${row.wat} is not a parameter (did you mean want?): there are policy or row");
  EXPECT_EQ(mistakes[2].message, "a ${ is not closed; a plain ${ is written $${");
}

TEST(Parameters, WhenComparesWithAValueAListOfThemOrAMember) {
  const Json values = J(R"({"policy": "A", "row": {"waits": true}})");
  EXPECT_TRUE(Applies(J(R"({"policy": "A"})"), values));
  EXPECT_FALSE(Applies(J(R"({"policy": "B"})"), values));
  EXPECT_TRUE(Applies(J(R"({"policy": ["B", "A"], "row.waits": true})"), values));
  EXPECT_FALSE(Applies(J(R"({"policy": "A", "row.waits": false})"), values));
  Mistakes mistakes;
  CheckWhen(J(R"({"row.waitz": true})"), values, "/when", mistakes);
  EXPECT_EQ(mistakes.size(), 1u);
}

TEST(Parameters, ACombinationIsCalledByItsValues) {
  EXPECT_EQ(CombinationName(J(R"({"a": 1, "b": "x", "c": null, "d": {"name": "row one", "e": 1}})")),
            "a=1, b=x, c=null, d=row one");
}

}  // namespace
}  // namespace terrarium::testbed::scenario
