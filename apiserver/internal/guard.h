#pragma once

// Confines an exception to the request that caused it: the client gets 500 InternalError, the log has the
// reason.

#include <exception>

#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// Logs `reason` and responds with 500, unless the call has a response.
void RespondPanic(const CallPtr& call, const char* reason);

// Runs `work`, a part of serving `call`. Callbacks of the store need a guard of their own: they may run on
// the store's commit thread, and an exception must not pass through the store.
template <typename Work>
void Guard(const CallPtr& call, Work&& work) {
  try {
    work();
  } catch (const std::exception& e) {
    RespondPanic(call, e.what());
  } catch (...) {
    RespondPanic(call, "not a std::exception");
  }
}

}  // namespace terrarium::apiserver
