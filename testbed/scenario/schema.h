#pragma once

#include "testbed/scenario/shape.h"

namespace terrarium::testbed::scenario {

// The JSON Schema (draft 7) of a scenario file, for editors. Generated from the tables of the reader. A
// number may also be a ${parameter}, whose value only the reader checks.
Json ScenarioSchema();

}  // namespace terrarium::testbed::scenario
