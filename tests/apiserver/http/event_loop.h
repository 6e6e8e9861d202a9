#pragma once

#include <trantor/net/EventLoop.h>

namespace terrarium::apiserver {

// Shared by all tests: Drogon may have created the main thread's loop, and trantor allows one per thread.
inline trantor::EventLoop& Loop() {
  static trantor::EventLoop* const kExisting = trantor::EventLoop::getEventLoopOfCurrentThread();
  static trantor::EventLoop* const kLoop = kExisting != nullptr ? kExisting : new trantor::EventLoop;
  return *kLoop;
}

}  // namespace terrarium::apiserver
