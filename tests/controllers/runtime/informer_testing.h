#pragma once

// Pods that a test of informers distinguishes by their nodes.

#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"

namespace terrarium::controllers_testing {

api::Json Pod(const std::string& name, const std::string& node = "", const std::string& ns = "default");
std::string NodeOf(const api::Object& pod);
// The node, or nothing for a pod without one: an IndexFunction.
std::vector<std::string> NodeIndex(const api::Object& pod);
// "ns/name", separated by blanks.
std::string Names(const std::vector<api::ObjectPtr>& objects);

}  // namespace terrarium::controllers_testing
