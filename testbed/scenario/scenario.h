#pragma once

// One scenario, read and checked: what `terrarium test` runs.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/codec/yaml.h"
#include "testbed/scenario/step.h"

namespace terrarium::testbed::scenario {

struct Step {
  const StepDef* def = nullptr;
  Json document;
  api::YamlPlace place;
  std::string Title() const;  // its name, or its verb and target
};

struct Scenario {
  std::string name;  // with the values of its parameters: "scaling up [policy=TerminationComplete]"
  std::string description;
  std::string file;
  api::YamlPlace place;
  Json options = Json::object();  // as in the file
  std::vector<std::uint64_t> seeds;
  std::vector<Step> steps;
  std::set<std::string> marks;  // names of steps after which the run records /metrics, for `since`
};

}  // namespace terrarium::testbed::scenario
