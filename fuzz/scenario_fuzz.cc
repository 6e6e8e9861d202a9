// Scenario files.

#include "fuzz/property.h"
#include "testbed/scenario/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  const std::string_view text = fuzz::Input(data, size).text();
  const testbed::scenario::ReadScenarios read = testbed::scenario::ReadScenarioText("scenario.yaml", text);
  for (const testbed::scenario::FileMistake& mistake : read.mistakes) {
    fuzz::Require(!mistake.message.empty(), "a mistake has words");
    fuzz::Require(mistake.place.line >= 1, "a mistake has a place");
  }
  if (!read.mistakes.empty()) return 0;
  for (const testbed::scenario::Scenario& scenario : read.scenarios)
    for (const testbed::scenario::Step& step : scenario.steps) {
      fuzz::Require(step.def != nullptr, "each step is one that the runner knows");
      fuzz::Require(!step.Title().empty(), "each step has a title");
    }
  return 0;
}
