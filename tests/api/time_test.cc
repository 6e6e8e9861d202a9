#include <gtest/gtest.h>

#include "api/base/clock.h"

namespace terrarium::api {
namespace {

using namespace std::chrono_literals;

TEST(FormatTime, WritesWhatParseTimeReads) {
  for (const char* text :
       {"1970-01-01T00:00:00Z", "2026-01-02T03:04:05Z", "2024-02-29T23:59:59Z", "1999-12-31T10:20:30Z",
        "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "0000-01-01T00:00:00Z"}) {
    auto time = ParseTime(text);
    ASSERT_TRUE(time.has_value()) << text;
    EXPECT_EQ(FormatTime(*time), text);
  }
}

TEST(FormatTime, CutsFractionsOffAndMicroTimeKeepsThem) {
  Time time = *ParseTime("2026-01-02T03:04:05Z") + 999'999us;
  EXPECT_EQ(FormatTime(time), "2026-01-02T03:04:05Z");
  EXPECT_EQ(FormatMicroTime(time), "2026-01-02T03:04:05.999999Z");
}

TEST(ParseTime, RefusesAnOffsetThatLeadsToAYearItCannotReadBack) {
  EXPECT_FALSE(ParseTime("0000-01-01T00:00:00+01:00").has_value());
  EXPECT_FALSE(ParseTime("9999-12-31T23:59:59-00:01").has_value());
  EXPECT_TRUE(ParseTime("0000-01-01T00:00:00-01:00").has_value());
}

TEST(FormatTime, HasRoomForLateYears) {
  EXPECT_EQ(FormatTime(*ParseTime("9999-12-31T23:59:59Z") + 1s), "10000-01-01T00:00:00Z");
}

}  // namespace
}  // namespace terrarium::api
