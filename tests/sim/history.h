#pragma once

#include <functional>
#include <string>
#include <vector>

#include "testbed/testbed.h"

namespace terrarium::testbed {

// Everything that is written in a plane while `drive` drives it, in order: at which revision, what kind of write, and
// the text itself.
std::vector<std::string> HistoryOf(TestbedOptions options, const std::function<void(Testbed&)>& drive);

}  // namespace terrarium::testbed
