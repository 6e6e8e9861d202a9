#include "testbed/invariants/value_history.h"

#include <gtest/gtest.h>

namespace terrarium::testbed::invariants {
namespace {

TEST(ValueHistory, AnyValueSinceTheLastReportIsRight) {
  ValueHistory<int> history;
  history.Add(10, 0);
  history.Add(11, 1);
  history.Add(12, 2);
  EXPECT_TRUE(history.Matches(1));
  EXPECT_FALSE(history.Matches(3));
  EXPECT_TRUE(history.Matches(2));
}

TEST(ValueHistory, AValueFromBeforeTheLastReportIsWrong) {
  ValueHistory<int> history;
  history.Add(10, 0);
  history.Add(11, 1);
  history.Add(12, 2);
  EXPECT_TRUE(history.Matches(2));
  EXPECT_FALSE(history.Matches(1));
  EXPECT_TRUE(history.Matches(2)) << "the same again";
  EXPECT_EQ(history.since(), 12);
}

TEST(ValueHistory, TheEarliestRevisionThatFitsIsTakenForTheView) {
  ValueHistory<int> history;
  history.Add(10, 1);
  history.Add(11, 2);
  history.Add(12, 1);
  EXPECT_TRUE(history.Matches(1));
  EXPECT_TRUE(history.Matches(2));
  EXPECT_TRUE(history.Matches(1));
  EXPECT_FALSE(history.Matches(2));
}

TEST(ValueHistory, TheSameValueAgainIsRememberedOnce) {
  ValueHistory<int> history;
  for (int revision = 1; revision < 10; ++revision) history.Add(revision, 7);
  EXPECT_EQ(history.size(), 1u);
  EXPECT_EQ(history.since(), 1);
}

TEST(ValueHistory, OnceLoosenedEverythingPassesUntilAReportFits) {
  ValueHistory<int> history;
  history.Add(10, 1);
  history.Loosen();
  EXPECT_TRUE(history.Matches(5));
  EXPECT_TRUE(history.Matches(1));
  EXPECT_FALSE(history.Matches(5));
}

TEST(ValueHistory, KeepsABoundedNumberOfValuesAndAcceptsDroppedOnes) {
  ValueHistory<int> history;
  int count = static_cast<int>(ValueHistory<int>::kValuesMax) + 5;
  for (int i = 0; i < count; ++i) history.Add(i, i);
  EXPECT_EQ(history.size(), ValueHistory<int>::kValuesMax);
  EXPECT_TRUE(history.Matches(1)) << "forgotten";
  EXPECT_TRUE(history.Matches(100));
  EXPECT_FALSE(history.Matches(99));
}

}  // namespace
}  // namespace terrarium::testbed::invariants
