#include "api/container_log.h"

#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

using namespace std::chrono_literals;

const Time kStart = Time(1'000s);

// "SECONDS text" of each line printed by `now`, with SECONDS since the start.
std::vector<std::string> Lines(const ContainerLog& log, Time now) {
  std::vector<std::string> out;
  const ContainerLog::Extent extent = log.ExtentAt(now);
  for (std::int64_t i = extent.begin; i < extent.end; ++i) {
    const ContainerLog::Line line = log.LineAt(i);
    out.push_back(std::to_string((line.time - kStart) / 1s) + " " + std::string(line.text));
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST(ContainerLog, PrintsItsTextOnceAtTheStart) {
  ContainerLog log({"hello\nworld", std::nullopt}, kStart);
  EXPECT_EQ(Lines(log, kStart - 1us), Texts());
  EXPECT_EQ(Lines(log, kStart), (Texts{"0 hello\n", "0 world"}));
  EXPECT_EQ(Lines(log, kStart + 24h), (Texts{"0 hello\n", "0 world"}));
  EXPECT_EQ(log.ExtentAt(kStart).next, std::nullopt);
  EXPECT_FALSE(log.ExtentAt(kStart + 24h).ended);
}

TEST(ContainerLog, PrintsItsTextAgainAfterEachPeriodUntilItEnds) {
  ContainerLog log({"tick", 10s}, kStart);
  EXPECT_EQ(Lines(log, kStart + 9s), Texts{"0 tick\n"});
  EXPECT_EQ(log.ExtentAt(kStart + 9s).next, kStart + 10s);
  EXPECT_EQ(Lines(log, kStart + 20s), (Texts{"0 tick\n", "10 tick\n", "20 tick\n"}));
  EXPECT_EQ(log.ExtentAt(kStart + 20s).next, kStart + 30s);
  log.End(kStart + 35s);
  EXPECT_EQ(Lines(log, kStart + 24h), (Texts{"0 tick\n", "10 tick\n", "20 tick\n", "30 tick\n"}));
  EXPECT_TRUE(log.ExtentAt(kStart + 24h).ended);
  EXPECT_EQ(log.ExtentAt(kStart + 24h).next, std::nullopt);
}

TEST(ContainerLog, AnEmptyTextHasNoLinesAndNoNextOne) {
  ContainerLog log({"", 10s}, kStart);
  EXPECT_EQ(Lines(log, kStart + 1h), Texts());
  EXPECT_EQ(log.ExtentAt(kStart + 1h).next, std::nullopt);
}

TEST(ContainerLog, OldLinesOfALongLogAreGone) {
  ContainerLog log({std::string(1023, 'x') + "\n", 1s}, kStart);
  const ContainerLog::Extent extent = log.ExtentAt(kStart + std::chrono::seconds(20'000));
  EXPECT_EQ(extent.end, 20'001);
  EXPECT_EQ((extent.end - extent.begin) * 1024, ContainerLog::kBytesMax);
}

TEST(ContainerLog, TheEndWakesWaiters) {
  ContainerLog log({"hello", std::nullopt}, kStart);
  int kept = 0, dropped = 0;
  std::shared_ptr<void> handle = log.OnEnd([&] { ++kept; });
  log.OnEnd([&] { ++dropped; });  // the test has dropped its handle
  log.End(kStart + 1s);
  log.End(kStart + 2s);
  EXPECT_EQ(kept, 1);
  EXPECT_EQ(dropped, 0);
  int late = 0;
  std::shared_ptr<void> afterwards = log.OnEnd([&] { ++late; });
  EXPECT_EQ(late, 1);
}

}  // namespace
}  // namespace terrarium::api
