#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace terrarium::testbed {

struct TestFlags {
  std::vector<std::string> paths;
  std::string junit;
  int parallel = 0;  // 0: as many as there are cores
  std::string filter;
  std::optional<std::uint64_t> seed;  // absent: the seed of each scenario
  bool list = false;
  bool schema = false;
};

void AddTestFlags(CLI::App& app, TestFlags& flags);

// Runs scenario files. Returns the exit code: 0 all passed, 1 some failed, 2 bad usage or a bad file (nothing
// was run), 130 interrupted.
int RunTest(const TestFlags& flags);

}  // namespace terrarium::testbed
