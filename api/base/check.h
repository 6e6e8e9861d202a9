#pragma once

// CHECK is for programmer errors only and stays on in every build: a violated invariant ends the process at once, with
// the place, instead of letting a test pass on a broken plane.

namespace terrarium::api {

[[noreturn]] void CheckFailed(const char* expression, const char* file, int line);

}  // namespace terrarium::api

#define CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::terrarium::api::CheckFailed(#expression, __FILE__, __LINE__))
