#pragma once

// The client's side of TLS on bytes that somebody else carries: no sockets here. A certificate must lead to one of the
// roots and be made out to the server's name, or to its address where it is called by that.

#include <memory>
#include <string>
#include <string_view>

#include "api/base/status.h"

struct ssl_ctx_st;
struct ssl_st;

namespace terrarium::testbed::internal {

// Whom to trust. Several sessions, of one thread, share it.
class TlsRoots {
 public:
  // The authorities of a PEM file, or the system's when `ca_file` is empty.
  static api::Result<std::unique_ptr<TlsRoots>> Make(const std::string& ca_file);
  ~TlsRoots();

  ssl_ctx_st* context() const { return context_; }

 private:
  explicit TlsRoots(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

class TlsSession {
 public:
  enum class State { kHandshake, kOpen, kClosed, kFailed };

  // `server` is the name or address that the certificate must be for. `roots` outlive the session.
  TlsSession(const TlsRoots& roots, const std::string& server);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Begins the handshake. To be sent afterwards, as after every other call: TakeOutput().
  State Start() { return Feed({}); }
  // Takes bytes that came from the server and adds what they say to `plain`. kClosed: it has said goodbye.
  State Feed(std::string_view bytes, std::string* plain = nullptr);
  // REQUIRES: the state is kOpen.
  State Write(std::string_view plain);
  std::string TakeOutput();

  State state() const { return state_; }
  const std::string& error() const { return error_; }

 private:
  State Fail();
  State Handshake();
  State Read(std::string* plain);

  ssl_st* ssl_;
  State state_ = State::kHandshake;
  std::string error_;
};

}  // namespace terrarium::testbed::internal
