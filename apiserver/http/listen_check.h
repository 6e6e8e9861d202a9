#pragma once

// Checks to make before the server runs, because Drogon ends the process when it cannot listen.

#include <cstdint>
#include <string>

#include "api/base/status.h"

namespace terrarium::apiserver {

// Checks that the server can listen on `port`, or on any free port if it is 0. Returns the port.
api::Result<std::uint16_t> CheckListen(const std::string& address, std::uint16_t port);
// True if a server accepts connections at this address and port.
bool CanConnect(const std::string& address, std::uint16_t port);
// Fails if the file cannot be read or is empty. Succeeds for an empty name.
api::Result<void> CheckReadable(const std::string& file);
bool IsLoopback(const std::string& address);

}  // namespace terrarium::apiserver
