#pragma once

#include <string_view>

namespace terrarium::apiserver {

// Whether a container image refers to the newest version: the tag is latest, or it has neither tag nor
// digest. False for malformed references.
bool IsLatestImage(std::string_view image);

}  // namespace terrarium::apiserver
