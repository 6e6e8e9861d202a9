// What can be done to the components of a plane while it runs.

#include "testbed/scenario/run.h"
#include "testbed/scenario/shapes.h"

namespace terrarium::testbed::scenario {

std::span<const StepDef> ComponentSteps() { return {}; }

}  // namespace terrarium::testbed::scenario
