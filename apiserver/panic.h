#pragma once

#include <string_view>

namespace terrarium::apiserver {

// What a client reads of a request that ended in an exception; the log has the reason. kube-apiserver's own
// words.
inline constexpr std::string_view kPanicMessage =
    "This request caused apiserver to panic. Look in the logs for details.";

}  // namespace terrarium::apiserver
