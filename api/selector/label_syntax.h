#pragma once

// What label keys and values may look like, with Kubernetes' words for what is wrong.

#include <string>
#include <string_view>
#include <vector>

namespace terrarium::api {

// Each returns the messages for what is wrong with the text (several rules may fail), empty when it is fine.
std::vector<std::string> LabelKeyErrors(std::string_view key);
std::vector<std::string> LabelValueErrors(std::string_view value);

}  // namespace terrarium::api
