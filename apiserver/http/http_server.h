#pragma once

// The HTTP face of a handler. The only folder that knows Drogon, which is one app per process: at most one HttpServer
// exists at a time.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/base/status.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: a free one
  std::string tls_cert;    // PEM files; both or none
  std::string tls_key;
  std::string client_ca;   // with TLS: clients must show a certificate of this authority
  std::size_t body_bytes_max = 3 * 1024 * 1024;
  std::size_t connections_max = 20'000;
  // A stream whose client has this much unread is paused, and its watch's own buffer bounds the rest.
  std::size_t stream_backlog_bytes_max = 1024 * 1024;
  int threads = 0;  // 0: one per core
  // Who sends this bearer token; nullopt: 401. Not set: everybody is the administrator.
  std::function<std::optional<UserInfo>(const std::string& token)> authenticate;
};

class HttpServer {
 public:
  using Serve = std::function<void(Request, Responder)>;

  // Checks that the address can be bound and the files be read; fails with one line that says why.
  static api::Result<std::unique_ptr<HttpServer>> Make(HttpOptions options, Serve serve);
  virtual ~HttpServer() = default;

  virtual std::string Url() const = 0;
  // Serves until Stop(); `ready` is called once connections are accepted.
  virtual void Run(std::function<void()> ready) = 0;
  // Lets requests in flight end, calls `close_streams` (after which streams end by themselves), waits for them for a
  // few seconds and makes Run() return. May be called from any thread; later calls change nothing.
  virtual void Stop(std::function<void()> close_streams) = 0;
};

}  // namespace terrarium::apiserver
