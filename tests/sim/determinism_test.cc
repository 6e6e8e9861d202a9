// The same seed gives the same history of the whole cluster, byte by byte. Another seed gives another
// interleaving of its components.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"
#include "tests/sim/history.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;

Json Pod(const std::string& name, Json annotations) {
  return {{"metadata", {{"name", name}, {"annotations", std::move(annotations)}}},
          {"spec",
           {{"containers", {{{"name", "web"}, {"image", "x"}}}},
            {"restartPolicy", "Never"},
            {"terminationGracePeriodSeconds", 5}}}};
}

std::vector<std::string> PodHistory(std::uint64_t seed) {
  return HistoryOf({.seed = seed, .nodes = 3}, [](Testbed& bed) {
    for (int i = 0; i < 8; ++i) {
      Json script = Json::object();
      if (i % 3 == 1) script["terrarium.dev/run-for"] = "20s";
      if (i % 3 == 2) script["terrarium.dev/stop-after"] = "3s";
      Testbed::Must(bed.Create("pods", "default", Pod("pod-" + std::to_string(i), script)));
    }
    bed.clock().Advance(1min);
    for (int i = 0; i < 8; i += 2) bed.Delete("pods", {"default", "pod-" + std::to_string(i)}).ok();
    bed.clock().RunUntilIdle(1h);
  });
}

TEST(Determinism, OneSeedGivesOneHistoryByteByByte) {
  std::vector<std::string> first = PodHistory(42);
  std::vector<std::string> second = PodHistory(42);
  ASSERT_GT(first.size(), 50u);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) ASSERT_EQ(first[i], second[i]) << "the first difference";
}

// Names of the objects written, in order, without values drawn from the seed.
std::vector<std::string> OrderOf(std::uint64_t seed) {
  std::vector<std::string> out;
  for (const std::string& line : PodHistory(seed)) {
    Json body = Json::parse(line.substr(line.find('{')));
    out.push_back(std::string(api::StringAt(body, "metadata", "name")) + " " +
                  std::string(api::StringAt(body, "status", "phase")));
  }
  return out;
}

TEST(Determinism, AnotherSeedInterleavesTheComponentsDifferently) {
  int different = 0;
  std::vector<std::string> first = OrderOf(1);
  for (std::uint64_t seed : {2, 3, 4, 5}) different += OrderOf(seed) != first ? 1 : 0;
  EXPECT_EQ(different, 4);
}

}  // namespace
}  // namespace terrarium::testbed
