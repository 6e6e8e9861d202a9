// The three tables of KEP-3973, "Deployment Scaling Changes and a New Annotation for ReplicaSets", row by
// row.

#include <string>

#include <gtest/gtest.h>

#include "controllers/deployment/internal/proportional_scaling.h"
#include "tests/controllers/deployment/arithmetic_testing.h"

namespace terrarium::controllers::deployment {
namespace {

using Row = std::vector<std::int64_t>;
using Origins = std::vector<std::optional<std::int64_t>>;

// A Deployment with maxSurge 10 in mid-rollout. The terminating pods belong to a fourth template.
class Table {
 public:
  Table(std::int64_t replicas, Row sizes, std::int64_t terminating)
      : deployment_(Waiting(Rolling(replicas, 10, 0))) {
    // The oldest is the largest, so that age does not matter.
    for (std::size_t i = 0; i < sizes.size(); ++i)
      sets_.push_back(
          SizedFor(replicas, replicas + 10, Set(std::string(1, static_cast<char>('b' + i)), sizes[i])));
    sets_.push_back(Terminating(terminating, Set("a", 0)));
  }

  void DoNotWait() { deployment_.waits_for_termination = false; }
  bool IsScaling() const { return deployment::IsScaling(deployment_, sets_); }

  Row At(std::int64_t terminating, std::int64_t replicas) {
    sets_.back().terminating = terminating;
    deployment_.replicas = replicas;
    Apply(ScaleProportionally(deployment_, sets_), sets_);
    Row sizes = Sizes(sets_);
    sizes.pop_back();
    return sizes;
  }

  // The annotations of the first three.
  Origins BeforeScale() const {
    return {sets_[0].before_scale, sets_[1].before_scale, sets_[2].before_scale};
  }
  Row Max() const { return {*sets_[0].max, *sets_[1].max, *sets_[2].max}; }
  Row Desired() const { return {*sets_[0].desired, *sets_[1].desired, *sets_[2].desired}; }

 private:
  DeploymentSize deployment_;
  std::vector<ReplicaSetSize> sets_;
};

const Origins kNoOrigins{std::nullopt, std::nullopt, std::nullopt};

TEST(Kep3973Table1, ScalesImmediatelyDespiteTerminatingPods) {
  for (std::int64_t terminating : {0, 15, 1000}) {
    Table table(100, {60, 30, 20}, terminating);
    table.DoNotWait();
    EXPECT_EQ(table.At(terminating, 100), (Row{60, 30, 20})) << "T1";
    EXPECT_EQ(table.At(terminating, 120), (Row{71, 35, 24})) << "T2";
    EXPECT_EQ(table.Max(), (Row{130, 130, 130}));
    EXPECT_EQ(table.At(terminating, 130), (Row{76, 38, 26})) << "T3";
    EXPECT_EQ(table.Max(), (Row{140, 140, 140}));
    EXPECT_EQ(table.BeforeScale(), kNoOrigins);
  }
}

TEST(Kep3973Table1, HoldsUnderTerminationCompleteWhenNothingTerminates) {
  Table table(100, {60, 30, 20}, 0);
  EXPECT_EQ(table.At(0, 120), (Row{71, 35, 24})) << "T2";
  EXPECT_EQ(table.At(0, 130), (Row{76, 38, 26})) << "T3";
  EXPECT_EQ(table.BeforeScale(), kNoOrigins);
}

TEST(Kep3973Table2, OneScaleIsCompletedAsPodsTerminate) {
  Table table(100, {50, 30, 20}, 15);
  EXPECT_FALSE(table.IsScaling());

  EXPECT_EQ(table.At(15, 120), (Row{59, 35, 21})) << "T2";
  EXPECT_EQ(table.BeforeScale(), (Origins{50, std::nullopt, 20}));
  EXPECT_EQ(table.Max(), (Row{110, 130, 110}));
  EXPECT_EQ(table.Desired(), (Row{100, 120, 100}));
  EXPECT_TRUE(table.IsScaling());

  EXPECT_EQ(table.At(5, 120), (Row{66, 35, 24})) << "T3";
  EXPECT_EQ(table.BeforeScale(), (Origins{50, std::nullopt, std::nullopt}));
  EXPECT_EQ(table.Max(), (Row{110, 130, 130}));
  EXPECT_EQ(table.Desired(), (Row{100, 120, 120}));
  EXPECT_TRUE(table.IsScaling());

  EXPECT_EQ(table.At(0, 120), (Row{71, 35, 24})) << "T4";
  EXPECT_EQ(table.BeforeScale(), kNoOrigins);
  EXPECT_EQ(table.Max(), (Row{130, 130, 130}));
  EXPECT_EQ(table.Desired(), (Row{120, 120, 120}));
  EXPECT_FALSE(table.IsScaling());
}

// "Deployment Scaling Changes": the pods left over by rounding.
TEST(Kep5882, LeftoverPodsGoToTheLargestReplicaSetOrTheNewestOfEquals) {
  const DeploymentSize deployment = Rolling(16, 0, 0);
  for (bool waits : {false, true}) {
    DeploymentSize size = deployment;
    size.waits_for_termination = waits;
    EXPECT_EQ(ScaledSizes(size, {SizedFor(9, 9, Set("a", 3)), SizedFor(9, 9, Set("b", 3)),
                                 SizedFor(9, 9, Set("c", 3))}),
              (Row{5, 5, 6}))
        << "3 * 16/9 is 5 for each, and the one that is left is the newest's";
    EXPECT_EQ(ScaledSizes(size, {SizedFor(9, 9, Set("a", 4)), SizedFor(9, 9, Set("b", 3)),
                                 SizedFor(9, 9, Set("c", 1))}),
              (Row{9, 5, 2}))
        << "7, 5 and 2, and the two that are left are the largest's";
  }
}

TEST(Kep3973Table2, StepsInBetweenChangeNothingAndAnyPaceEndsTheSame) {
  Table table(100, {50, 30, 20}, 15);
  table.At(15, 120);
  EXPECT_EQ(table.At(15, 120), (Row{59, 35, 21})) << "the same pods terminating";
  for (std::int64_t terminating = 14; terminating >= 0; --terminating) {
    Row sizes = table.At(terminating, 120);
    EXPECT_EQ(sizes[0] + sizes[1] + sizes[2] + terminating, 130);
    EXPECT_EQ(sizes[1], 35);
  }
  EXPECT_EQ(table.At(0, 120), (Row{71, 35, 24}));
}

// The KEP prints 66/38/21 for T3. Its rules give 64/38/23: RS1 and RS3 have not completed the first scale and
// still count from T1 (50 * 140/110 = 64, 20 * 140/110 = 25), RS2 from T2 (35 * 140/130 = 38). There is room
// for 140 - 115 - 15 = 10: 5 for RS1, 3 for RS2, and the last 2 for RS3. T4 and T5 are as printed.
TEST(Kep3973Table3, AScaleOnTopOfAnUnfinishedOne) {
  Table table(100, {50, 30, 20}, 15);
  EXPECT_EQ(table.At(15, 120), (Row{59, 35, 21})) << "T2";

  EXPECT_EQ(table.At(15, 130), (Row{64, 38, 23})) << "T3";
  EXPECT_EQ(table.BeforeScale(), (Origins{50, std::nullopt, 20}));
  EXPECT_EQ(table.Max(), (Row{110, 140, 110}));
  EXPECT_EQ(table.Desired(), (Row{100, 130, 100}));

  EXPECT_EQ(table.At(5, 130), (Row{72, 38, 25})) << "T4";
  EXPECT_EQ(table.BeforeScale(), (Origins{50, std::nullopt, std::nullopt}));

  EXPECT_EQ(table.At(0, 130), (Row{77, 38, 25})) << "T5";
  EXPECT_EQ(table.BeforeScale(), kNoOrigins);
  EXPECT_EQ(table.Max(), (Row{140, 140, 140}));
  EXPECT_FALSE(table.IsScaling());
}

}  // namespace
}  // namespace terrarium::controllers::deployment
