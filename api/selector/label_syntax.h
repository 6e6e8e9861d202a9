#pragma once

// The syntax of label keys and values, with Kubernetes' error messages.

#include <string>
#include <string_view>
#include <vector>

namespace terrarium::api {

// Each returns the messages of all rules that the text violates; empty when it is valid.
std::vector<std::string> LabelKeyErrors(std::string_view key);
std::vector<std::string> LabelValueErrors(std::string_view value);

}  // namespace terrarium::api
