#pragma once

#include <cstdint>
#include <functional>

#include "api/base/clock.h"

namespace terrarium::api {

using TimerId = std::uint64_t;

// Runs work later: on threads in the live runtime, on the one thread of the simulated one. Work posted after
// shutdown began is dropped.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void Post(std::function<void()> work) = 0;
  // Runs `work` once, `delay` from now by the plane's clock.
  virtual TimerId PostAfter(Duration delay, std::function<void()> work) = 0;
  // True when the timer had not fired and now never will.
  virtual bool Cancel(TimerId id) = 0;
};

}  // namespace terrarium::api
