// Work on a body grows with its size and not with the square of it, whatever the body repeats.

#include <algorithm>
#include <cctype>
#include <limits>
#include <ostream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/hostile/hostile_server.h"

namespace terrarium::hostile {

// For GoogleTest, which would print the bytes.
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

namespace {

constexpr int kFactor = 4;
#ifdef NDEBUG
constexpr std::size_t kBytes = kBodyBytesMax / kFactor - 2048;
#else
constexpr std::size_t kBytes = 12 * 1024;  // builds that do not optimise take their time
#endif

// Work in proportion to the size is 4 times as much, a logarithm makes that 5, the square would be 16. So a
// third of the work at the smaller size may be quadratic at most, and there is room for noise.
constexpr double kGrowthMax = 8;
// Below this the clock and what does not depend on the size count for too much.
constexpr double kNegligibleMs = 2;
constexpr int kAttempts = 5;

class HostileBody : public testing::TestWithParam<Shape> {};

TEST_P(HostileBody, TakesWorkInProportionToItsSize) {
  const Shape& shape = GetParam();
  const Exchange small = shape.make(kBytes);
  const Exchange large = shape.make(kFactor * kBytes);
  double small_ms = std::numeric_limits<double>::max();
  double large_ms = std::numeric_limits<double>::max();
  // The least of several attempts is what the work takes when nothing else disturbs it.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    for (auto& [exchange, least] : {std::pair{&small, &small_ms}, std::pair{&large, &large_ms}}) {
      const Served served = Play(*exchange);
      ASSERT_EQ(served.error, "");
      if (shape.code != 0) {
        ASSERT_EQ(served.code, shape.code);
      }
      *least = std::min(*least, served.cpu_ms);
    }
    if (large_ms < kNegligibleMs || large_ms < kGrowthMax * small_ms) return;
  }
  ADD_FAILURE() << shape.name << ": " << small_ms << " ms for " << kBytes << " bytes, " << large_ms
                << " ms for " << kFactor << " times as many";
}

std::string TestName(const testing::TestParamInfo<Shape>& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Shapes, HostileBody, testing::ValuesIn(AllShapes()), TestName);

}  // namespace
}  // namespace terrarium::hostile
