#pragma once

// The options of a scenario's control plane.

#include "testbed/embedding/testbed.h"
#include "testbed/scenario/shape.h"

namespace terrarium::testbed::scenario {

const Shape& OptionsShape();
// Checks what a shape cannot express: gates that require other gates, unknown controllers. REQUIRES:
// `options` has passed CheckShape.
void CheckOptions(const Json& options, const std::string& path, Mistakes& mistakes);
// REQUIRES: `options` has passed CheckOptions.
TestbedOptions OptionsOf(const Json& options);

}  // namespace terrarium::testbed::scenario
