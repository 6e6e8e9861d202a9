// Runs the examples of docs/scenarios.md: a block that begins with `scenario:` is a file, and a block of
// steps is appended to the first scenario of the page, as the page states.

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "testbed/scenario/reader.h"
#include "testbed/scenario/run.h"

namespace terrarium::testbed::scenario {
namespace {

std::vector<std::string> YamlBlocks(const std::string& page) {
  std::vector<std::string> out;
  const std::string fence = "```yaml\n";
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    out.push_back(page.substr(begin, page.find("```", begin) - begin));
  }
  return out;
}

std::string Indented(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

void RunAll(const std::string& text) {
  ReadScenarios read = ReadScenarioText("docs/scenarios.md", text);
  for (const FileMistake& mistake : read.mistakes) ADD_FAILURE() << mistake.String() << "\nin\n" << text;
  if (!read.mistakes.empty()) return;
  EXPECT_FALSE(read.scenarios.empty());
  const std::atomic<bool> interrupted = false;
  for (const Scenario& scenario : read.scenarios) {
    RunReport report = Run(scenario, 1, interrupted).Execute();
    if (report.failure)
      ADD_FAILURE() << scenario.name << "\n" << Describe(scenario, *report.failure) << "in\n" << text;
  }
}

TEST(ScenarioDocs, EveryExampleRuns) {
  std::ifstream in("docs/scenarios.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::vector<std::string> blocks = YamlBlocks(page);
  ASSERT_GE(blocks.size(), 10u);
  std::string first;
  int scenarios = 0, steps = 0;
  for (const std::string& block : blocks) {
    SCOPED_TRACE(block);
    if (block.find("scenario:") != std::string::npos) {
      if (first.empty()) first = block;
      RunAll(block);
      ++scenarios;
    } else {
      RunAll(first + Indented(block));
      ++steps;
    }
  }
  EXPECT_GE(scenarios, 2);
  EXPECT_GE(steps, 8);
}

}  // namespace
}  // namespace terrarium::testbed::scenario
