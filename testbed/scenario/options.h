#pragma once

// The options of a scenario: what kind of plane it wants.

#include "testbed/scenario/shape.h"
#include "testbed/testbed.h"

namespace terrarium::testbed::scenario {

const Shape& OptionsShape();
// What shapes cannot say: gates that need others, controllers that nobody knows. REQUIRES: the shape is right.
void CheckOptions(const Json& options, const std::string& path, Mistakes& mistakes);
// REQUIRES: they have been checked.
TestbedOptions OptionsOf(const Json& options);

}  // namespace terrarium::testbed::scenario
