#pragma once

// The HTTP client that a plane calls its users' services with: one thread for all calls, from the first one on, none of
// which waits for another. It knows nothing of Kubernetes; where a call goes, and whether it may, is said by `locate`.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "api/base/status.h"
#include "api/http_caller.h"

namespace terrarium::testbed {

// Where to connect to. The request and the certificate's check keep the host that was called.
struct CallTarget {
  std::string host;  // an IP address, "localhost", or a name to look up
  std::uint16_t port = 0;

  bool operator==(const CallTarget&) const = default;
};

// The target of a call, or the answer it gets instead. Thread-safe, and does not block.
using Locate = std::function<std::variant<CallTarget, api::HttpAnswer>(const api::HttpCall& call)>;

struct NameLookUp {
  std::vector<std::string> addresses;  // IP addresses, in the order in which to try them
  std::string error;                   // why there are none
};
// Calls `done` at most once, on any thread. It is called on the caller's own thread and does not block.
using LookUp = std::function<void(const std::string& name, std::function<void(NameLookUp)> done)>;

// Asks the system, as every other program does: /etc/hosts, DNS and whatever else is configured.
LookUp SystemLookUp();

struct HttpCallerOptions {
  Locate locate = {};        // to be given
  std::string ca_file = {};  // PEM; the authorities to trust instead of the system's
  LookUp look_up = SystemLookUp();
};

// Fails when the file holds no certificates. The answers are given on the caller's own thread. To be destroyed on
// another one.
api::Result<std::unique_ptr<api::HttpCaller>> MakeHttpCaller(HttpCallerOptions options);

}  // namespace terrarium::testbed
