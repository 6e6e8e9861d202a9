#pragma once

// CHECK is for programmer errors only and stays on in every build. A violated invariant ends the process
// immediately and prints the file and line, instead of letting a test pass on a broken control plane.

namespace terrarium::api {

[[noreturn]] void CheckFailed(const char* expression, const char* file, int line);

}  // namespace terrarium::api

#define CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::terrarium::api::CheckFailed(#expression, __FILE__, __LINE__))
