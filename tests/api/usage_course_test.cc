#include "api/pod_script/usage_course.h"

#include <gtest/gtest.h>

#include "api/pod_script/pod_script.h"

namespace terrarium::api {
namespace {

using namespace std::chrono_literals;

std::string At(std::string_view course, Duration since_start) {
  std::string error;
  const auto parsed = UsageCourse::Parse(course, &error);
  return parsed ? parsed->At(since_start).ToString() : error;
}

TEST(UsageCourse, IsOneAmountOrStepsByTime) {
  EXPECT_EQ(At("250m", 1h), "250m");
  constexpr const char* kCourse = "100m, 5m:800m, 20m:100m";
  EXPECT_EQ(At(kCourse, 0s), "100m");
  EXPECT_EQ(At(kCourse, 5min - 1us), "100m");
  EXPECT_EQ(At(kCourse, 5min), "800m");
  EXPECT_EQ(At(kCourse, 20min), "100m");
  EXPECT_EQ(At("0s:1Gi,1h:2Gi", 100h), "2Gi");
}

TEST(UsageCourse, RefusesWhatItCannotRead) {
  EXPECT_EQ(At("5m:800m", 0s), "must begin with the usage at the container's start, like 100m,5m:800m");
  EXPECT_EQ(At("1,5m:2,5m:3", 0s), "must be in ascending order of time, like 100m,5m:800m,20m:100m");
  EXPECT_EQ(At("-1", 0s), "must be greater than or equal to 0");
  EXPECT_EQ(At("1,-5m:2", 0s), "must be greater than or equal to 0");
  EXPECT_EQ(At("1,5:2", 0s), "time: missing unit in duration \"5\"");
  EXPECT_NE(At("1,", 0s), "1");
  EXPECT_NE(At("much", 0s), "");
  std::string long_course = "1";
  for (int i = 1; i <= 100; ++i) long_course += "," + std::to_string(i) + "s:2";
  EXPECT_EQ(At(long_course, 0s), "must have at most 100 steps");
}

TEST(UsageCourse, IsPartOfAPodScript) {
  PodScript script;
  const Json keys = {{"cpu", "100m,1m:1"}, {"cpu.side", 2}, {"memory", "64Mi"}};
  EXPECT_TRUE(ParseScriptKeys(keys, Path("script"), &script).empty());
  EXPECT_EQ(script.Find("main", &ContainerScript::cpu)->At(2min).ToString(), "1");
  EXPECT_EQ(script.Find("side", &ContainerScript::cpu)->At(2min).ToString(), "2");
  EXPECT_EQ(script.Find("side", &ContainerScript::memory)->At(0s).ToString(), "64Mi");

  const FieldErrors errors = ParseScriptKeys({{"memory", "a lot"}}, Path("script"), &script);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "script[memory]");
}

}  // namespace
}  // namespace terrarium::api
