#pragma once

// Reads scenario files: YAML, a scenario in each document. docs/scenarios.md has the format.

#include <string>
#include <string_view>
#include <vector>

#include "testbed/scenario/scenario.h"

namespace terrarium::testbed::scenario {

// The top level of a scenario document.
const Shape& ScenarioShape();

struct FileMistake {
  std::string file;
  api::YamlPlace place;
  std::string message;

  std::string String() const;  // "web.yaml:12:7: unknown key ..."
};

struct ReadScenarios {
  std::vector<Scenario> scenarios;    // one for each combination of parameters
  std::vector<FileMistake> mistakes;  // in the order of the text; if there are any, run no scenario
};

// Reads the content of a scenario file. Checks everything before a scenario runs, and reports each mistake
// with its place.
ReadScenarios ReadScenarioText(const std::string& file, std::string_view text);

}  // namespace terrarium::testbed::scenario
