#pragma once

// Serves a handler over HTTP. Only this folder uses Drogon. Drogon has one app per process, so at most one
// HttpServer exists at a time. docs/http.md explains the limits.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/base/status.h"
#include "apiserver/request.h"
#include "apiserver/request_scope.h"

namespace terrarium::apiserver {

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free port
  std::string tls_cert;    // PEM files; both or none
  std::string tls_key;
  std::string client_ca;  // with TLS: clients must present a certificate of this authority
  std::size_t connections_max = 20'000;
  // Limits of one request.
  std::size_t head_bytes_max = 1024 * 1024;
  std::size_t body_bytes_max = 3 * 1024 * 1024;
  // Limits of all connections together: requests without a response yet, and responses that have not been
  // sent yet.
  std::size_t received_bytes_max = 256 * 1024 * 1024;
  std::size_t unsent_bytes_max = 256 * 1024 * 1024;
  // The size of a connection's send buffer in the kernel (SO_SNDBUF). The kernel doubles it to account for
  // its own overhead.
  int socket_buffer_bytes = 128 * 1024;
  // A worker serves a request with a larger body and query, so that parsing them does not block the event
  // loop.
  std::size_t loop_body_bytes_max = 256 * 1024;
  int workers = 2;
  std::chrono::seconds handshake_limit{30};
  std::chrono::milliseconds head_limit{std::chrono::seconds(30)};
  std::chrono::milliseconds body_limit{std::chrono::seconds(60)};
  std::chrono::seconds idle_limit{180};
  // Without any byte accepted by the client. It has twice as long for each piece of a response, of 64 KiB in
  // a stream and 256 KiB otherwise.
  std::chrono::seconds send_limit{30};
  std::chrono::seconds linger_limit{5};  // for the client to close after the last response
  int threads = 0;                       // event loops; 0: one per core
  // Returns the user of a bearer token; nullopt: 401. A request without a token gets the user of its client
  // certificate, and 401 if `authenticate` is set without `client_ca`. With neither of them every client is
  // the administrator.
  std::function<std::optional<UserInfo>(const std::string& token)> authenticate;
};

class HttpServer {
 public:
  using Serve = std::function<void(Request, RequestScopePtr)>;

  // Checks that the address can be bound and that the files can be read, and fails with a one-line reason.
  // Raises the limit of open files to its maximum, and lowers connections_max to what that limit allows.
  static api::Result<std::unique_ptr<HttpServer>> Make(HttpOptions options, Serve serve);
  virtual ~HttpServer() = default;

  virtual std::string Url() const = 0;
  // Serves until Stop(). Calls `ready` once the server accepts connections.
  virtual void Run(std::function<void()> ready) = 0;
  // Waits for the requests in flight, calls `close_streams` (after which streams end by themselves), waits
  // for the streams, and makes Run() return. All of this takes a few seconds at most, even if requests or
  // streams do not end. May be called from any thread; later calls have no effect.
  virtual void Stop(std::function<void()> close_streams) = 0;
};

}  // namespace terrarium::apiserver
