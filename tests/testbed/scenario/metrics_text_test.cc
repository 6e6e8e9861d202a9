#include "testbed/scenario/metrics_text.h"

#include <gtest/gtest.h>

namespace terrarium::testbed::scenario {
namespace {

constexpr const char* kText =
    "# HELP pods how many\n# TYPE pods gauge\n"
    "pods{phase=\"Running\",ns=\"a\"} 3\npods{phase=\"Running\",ns=\"b\"} 4\npods{phase=\"odd "
    "\\\"}{\",ns=\"b\"} 0.5\n"
    "pods_total 7\nbig 1e+06 1700000000\n";

TEST(MetricsText, TheSumOfTheSeriesWithTheLabels) {
  EXPECT_EQ(SumOfSeries(kText, "pods", {{"phase", "Running"}, {"ns", "a"}}), 3);
  EXPECT_EQ(SumOfSeries(kText, "pods", {{"phase", "Running"}}), 7);
  EXPECT_EQ(SumOfSeries(kText, "pods", {{"phase", "odd \"}{"}}), 0.5);
  EXPECT_EQ(SumOfSeries(kText, "pods_total", api::Json::object()), 7);
  EXPECT_EQ(SumOfSeries(kText, "big", api::Json::object()), 1e6);
}

TEST(MetricsText, AMissingSeriesHasNoValue) {
  EXPECT_EQ(SumOfSeries(kText, "pod", api::Json::object()), std::nullopt);
  EXPECT_EQ(SumOfSeries(kText, "pods", {{"phase", "Failed"}}), std::nullopt);
  EXPECT_EQ(SeriesOf(kText, "pod"), "");
  EXPECT_EQ(SeriesOf(kText, "pods_total"), "pods_total");
}

TEST(MetricsText, NumbersAsPeopleWriteThem) {
  EXPECT_EQ(FormatMetric(3), "3");
  EXPECT_EQ(FormatMetric(0.25), "0.25");
}

}  // namespace
}  // namespace terrarium::testbed::scenario
