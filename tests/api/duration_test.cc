#include "api/base/duration.h"

#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, ReadsWhatGoReads) {
  EXPECT_EQ(ParseDuration("0").value, 0s);
  EXPECT_EQ(ParseDuration("1h30m").value, 90min);
  EXPECT_EQ(ParseDuration("-1.5s").value, -1500ms);
  EXPECT_EQ(ParseDuration("300ms").value, 300ms);
  EXPECT_EQ(ParseDuration(".5s").value, 500ms);
  EXPECT_EQ(ParseDuration("0.1s").value, 100ms);
  EXPECT_EQ(ParseDuration("1.000001s").value, 1000001us);
}

TEST(ParseDuration, ErrorsAreThoseOfGo) {
  EXPECT_EQ(ParseDuration("5").error, R"(time: missing unit in duration "5")");
  EXPECT_EQ(ParseDuration("5d").error, R"(time: unknown unit "d" in duration "5d")");
  EXPECT_EQ(ParseDuration("9999999h").error, R"(time: invalid duration "9999999h")");
  EXPECT_EQ(ParseDuration("").error, R"(time: invalid duration "")");
  EXPECT_EQ(ParseDuration("s").error, R"(time: invalid duration "s")");
}

TEST(FormatDuration, WritesWhatGoWrites) {
  EXPECT_EQ(FormatDuration(0s), "0s");
  EXPECT_EQ(FormatDuration(90min), "1h30m0s");
  EXPECT_EQ(FormatDuration(1500ms), "1.5s");
  EXPECT_EQ(FormatDuration(250ms), "250ms");
  EXPECT_EQ(FormatDuration(-10s), "-10s");
  EXPECT_EQ(FormatDuration(61'050ms), "1m1.05s");
  EXPECT_EQ(FormatDuration(7us), "7\u00b5s");
}

}  // namespace
}  // namespace terrarium::api
