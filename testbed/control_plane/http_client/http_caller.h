#pragma once

// The HTTP client of the control plane and of the command line, on libcurl. One thread, started with the
// first call, makes all calls concurrently. `locate` decides where a call connects to and whether it is
// allowed; the client itself depends on nothing of Kubernetes.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "api/base/status.h"
#include "api/http_caller.h"

namespace terrarium::testbed {

// The address to connect to. The request and the check of the certificate use the host of the call.
struct CallTarget {
  std::string host;  // an IP address, "localhost", or a name that the system resolves
  std::uint16_t port = 0;

  bool operator==(const CallTarget&) const = default;
};

// The target of a call, or its error. Thread-safe, and does not block.
using Locate = std::function<std::variant<CallTarget, api::HttpAnswer>(const api::HttpCall& call)>;

struct HttpCallerOptions {
  Locate locate = {};        // required
  std::string ca_file = {};  // PEM; the authorities to trust instead of the system's
  std::string ca_pem = {};   // the same as text; not with ca_file
  // A certificate for servers that ask for one: both or none, as PEM text.
  std::string client_certificate_pem = {};
  std::string client_key_pem = {};
  bool skip_tls_verify = false;  // accepts every certificate of a server
};

// Fails when ca_file or ca_pem holds no certificates. The client calls `done` on its own thread. Destroy it
// on another one.
api::Result<std::unique_ptr<api::HttpCaller>> MakeHttpCaller(HttpCallerOptions options);

}  // namespace terrarium::testbed
