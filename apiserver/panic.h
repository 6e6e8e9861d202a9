#pragma once

#include <string_view>

namespace terrarium::apiserver {

// kube-apiserver's message for a request that ended in an exception; the log has the reason.
inline constexpr std::string_view kPanicMessage =
    "This request caused apiserver to panic. Look in the logs for details.";

}  // namespace terrarium::apiserver
