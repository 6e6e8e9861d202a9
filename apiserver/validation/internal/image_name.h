#pragma once

#include <string_view>

namespace terrarium::apiserver {

// True when a container image means "whatever is newest": the tag is latest, or there is neither tag nor
// digest. A text that is no image reference is not.
bool IsLatestImage(std::string_view image);

}  // namespace terrarium::apiserver
