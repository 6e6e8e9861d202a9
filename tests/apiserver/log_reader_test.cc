#include "apiserver/subresources/internal/log_reader.h"

#include <limits>

#include <gtest/gtest.h>

namespace terrarium::apiserver {
namespace {

using namespace std::chrono_literals;

const api::Time kStart = *api::ParseTime("2026-01-01T00:00:00.25Z");

// The log that a client reads at `now` from a container that has printed "tick" at its start and every second
// since.
std::string ReadAt(api::Time now, const PodLogOptions& options) {
  auto log = std::make_shared<api::ContainerLog>(api::PrintScript{"tick\n", 1s}, kStart);
  std::string out;
  LogReader(log, options, now).Read(now, std::numeric_limits<std::size_t>::max(), out);
  return out;
}

PodLogOptions Options() { return {}; }

TEST(LogReader, GivesWhatHasBeenPrinted) {
  EXPECT_EQ(ReadAt(kStart, Options()), "tick\n");
  EXPECT_EQ(ReadAt(kStart + 2s, Options()), "tick\ntick\ntick\n");
}

TEST(LogReader, TimestampsHaveNineDigits) {
  PodLogOptions options;
  options.timestamps = true;
  EXPECT_EQ(ReadAt(kStart + 1s, options),
            "2026-01-01T00:00:00.250000000Z tick\n2026-01-01T00:00:01.250000000Z tick\n");
}

TEST(LogReader, TheTailIsCountedBeforeOldLinesAreLeftOut) {
  PodLogOptions options;
  options.tail_lines = 3;
  EXPECT_EQ(ReadAt(kStart + 9s, options), "tick\ntick\ntick\n");
  options.since_seconds = 1;  // a line of that very instant counts
  EXPECT_EQ(ReadAt(kStart + 9s, options), "tick\ntick\n");
  options.tail_lines = 0;
  EXPECT_EQ(ReadAt(kStart + 9s, options), "");
  options.tail_lines = 100;
  options.since_seconds.reset();
  options.since_time = kStart + 8s + 1us;
  EXPECT_EQ(ReadAt(kStart + 9s, options), "tick\n");
}

TEST(LogReader, ManySecondsAreAsGoodAsEver) {
  PodLogOptions options;
  options.since_seconds = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ReadAt(kStart, options), "tick\n");
}

TEST(LogReader, TheLimitCountsTimestampsToo) {
  PodLogOptions options;
  options.limit_bytes = 7;
  EXPECT_EQ(ReadAt(kStart + 9s, options), "tick\nti");
  options.timestamps = true;
  EXPECT_EQ(ReadAt(kStart + 9s, options), "2026-01");
}

TEST(LogReader, GoesOnWhereItWas) {
  auto log = std::make_shared<api::ContainerLog>(api::PrintScript{"tick\n", 1s}, kStart);
  PodLogOptions options;
  options.tail_lines = 1;
  LogReader reader(log, options, kStart + 5s);
  std::string out;
  LogReader::Progress progress = reader.Read(kStart + 5s, 1000, out);
  EXPECT_EQ(out, "tick\n");
  EXPECT_FALSE(progress.over);
  EXPECT_EQ(progress.next, kStart + 6s);
  progress = reader.Read(kStart + 7s, 6, out);  // room for one more line
  EXPECT_EQ(out, "tick\ntick\n");
  EXPECT_FALSE(progress.over);
  log->End(kStart + 7s);
  progress = reader.Read(kStart + 60s, 1000, out);
  EXPECT_EQ(out, "tick\ntick\ntick\n");
  EXPECT_TRUE(progress.over);
}

TEST(LogReader, IsOverWhenTheLimitIsReached) {
  auto log = std::make_shared<api::ContainerLog>(api::PrintScript{"tick\n", 1s}, kStart);
  PodLogOptions options;
  options.limit_bytes = 5;
  LogReader reader(log, options, kStart);
  std::string out;
  EXPECT_TRUE(reader.Read(kStart, 1000, out).over);
}

}  // namespace
}  // namespace terrarium::apiserver
