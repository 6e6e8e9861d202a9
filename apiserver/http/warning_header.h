#pragma once

#include <string>
#include <vector>

namespace terrarium::apiserver {

// The values of the Warning headers for these texts. As in Kubernetes, a text that is not UTF-8 or has
// control characters gets none, so that no text can end the header. WarningList limits their number and size.
std::vector<std::string> WarningHeaders(const std::vector<std::string>& texts);

}  // namespace terrarium::apiserver
