#pragma once

#include <functional>
#include <string>
#include <vector>

#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {

// Everything that is written in a cluster while `drive` drives it, in order: at which revision, what kind of
// write, and the text itself.
std::vector<std::string> HistoryOf(TestbedOptions options, const std::function<void(Testbed&)>& drive);

}  // namespace terrarium::testbed
