#pragma once

#include <functional>
#include <string>
#include <vector>

#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {

// Everything that is written in a cluster while `drive` drives it, in order: the revision, the kind of write,
// and the text.
std::vector<std::string> HistoryOf(TestbedOptions options, const std::function<void(Testbed&)>& drive);

}  // namespace terrarium::testbed
