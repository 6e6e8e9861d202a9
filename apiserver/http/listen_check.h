#pragma once

// What can go wrong before the server runs, found out beforehand: Drogon ends the process when it cannot listen.

#include <cstdint>
#include <string>

#include "api/base/status.h"

namespace terrarium::apiserver {

// The port that can be listened on: `port` itself, or a free one for 0.
api::Result<std::uint16_t> CheckListen(const std::string& address, std::uint16_t port);
// True once somebody listens there.
bool CanConnect(const std::string& address, std::uint16_t port);
// Fine for an empty name.
api::Result<bool> CheckReadable(const std::string& file);
bool IsLoopback(const std::string& address);

}  // namespace terrarium::apiserver
