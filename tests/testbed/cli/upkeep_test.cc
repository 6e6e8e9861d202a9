#include "testbed/cli/upkeep.h"

#include <gtest/gtest.h>

#include "tests/wire/manual_runtime.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(ShouldReleaseMemory, AnIdleServerReturnsMoreThanALittle) {
  EXPECT_TRUE(ShouldReleaseMemory({.in_use = 500 * kMiB, .free = 33 * kMiB}, 0.05));
  EXPECT_FALSE(ShouldReleaseMemory({.in_use = 500 * kMiB, .free = 32 * kMiB}, 0.05));
}

TEST(ShouldReleaseMemory, UnderModerateLoadOnlyAClearExcessIsReturned) {
  EXPECT_TRUE(ShouldReleaseMemory({.in_use = 100 * kMiB, .free = 300 * kMiB}, 0.5));
  EXPECT_FALSE(ShouldReleaseMemory({.in_use = 200 * kMiB, .free = 300 * kMiB}, 0.5))
      << "it will be needed again";
  EXPECT_FALSE(ShouldReleaseMemory({.in_use = 10 * kMiB, .free = 100 * kMiB}, 0.5)) << "not worth it";
}

TEST(ShouldReleaseMemory, ABusyServerKeepsItsMemory) {
  EXPECT_FALSE(ShouldReleaseMemory({.in_use = 100 * kMiB, .free = 900 * kMiB}, 1.5));
}

TEST(Upkeep, MeasuresTheLoadOfEachPeriod) {
  wire::ManualRuntime runtime{api::Time(1h)};
  std::chrono::microseconds cpu = 100s;
  std::optional<HeapSize> heap = HeapSize{.in_use = 400 * kMiB, .free = 400 * kMiB};
  int checks = 0, releases = 0;
  Upkeep upkeep(runtime, [&] { ++checks; }, {[&] { return cpu; }, [&] { return heap; }, [&] { ++releases; }});
  cpu += 2s;
  runtime.Advance(5s);
  EXPECT_EQ(checks, 1);
  EXPECT_EQ(releases, 0) << "two of five seconds";
  cpu += 100ms;
  runtime.Advance(5s);
  EXPECT_EQ(releases, 1);
  heap = std::nullopt;
  runtime.Advance(5s);
  EXPECT_EQ(releases, 1) << "another allocator";
  upkeep.Stop();
  runtime.Advance(1min);
  EXPECT_EQ(checks, 3);
}

}  // namespace
}  // namespace terrarium::testbed
