#pragma once

#include "testbed/scenario/shape.h"

namespace terrarium::testbed::scenario {

// The JSON Schema (draft 7) of a scenario file, for editors. It is printed from the tables that the reader
// checks against; a value that must be a number may also be a ${parameter}, which only the reader can look
// behind.
Json ScenarioSchema();

}  // namespace terrarium::testbed::scenario
