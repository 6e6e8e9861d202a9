#pragma once

// How a controller calls a service that its users run. A control plane has no HTTP client of its own: the
// program that makes it passes one, and a test passes a fake.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace terrarium::api {

struct HttpCall {
  enum class Method { kGet, kPost };
  Method method = Method::kPost;
  bool tls = false;
  std::string host;  // a name, an address, or a Service as NAME.NAMESPACE.svc[.cluster.local]
  std::string port;  // a number, or the name of a port of that Service
  std::string path;  // begins with a slash
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // of a POST, sent as application/json
  // Real time, in every mode of the control plane's clock: from the name look-up to the last byte of the
  // response.
  std::chrono::milliseconds timeout{1000};
  std::size_t answer_bytes_max = 1024 * 1024;
};

struct HttpAnswer {
  enum class Outcome {
    kAnswered,     // whatever its status
    kNotAllowed,   // the host may not be called
    kUnknownHost,  // no address is known for it, or no such port
    kRefused,      // no server listens there, or the connection broke off
    kTlsFailure,   // no encrypted connection, or a certificate that is not trusted
    kTimedOut,
    kTooLarge,   // reading stopped at the limit
    kMalformed,  // not an HTTP response
  };
  Outcome outcome = Outcome::kAnswered;
  int status = 0;
  std::string content_type;
  std::string body;
  std::chrono::nanoseconds took{};  // real time, from Call() to `done`
  std::string error;  // what went wrong, in a few words without a header's value; empty when answered
};

class HttpCaller {
 public:
  virtual ~HttpCaller() = default;
  // Redirects are not followed and nothing is retried. `done` is called exactly once, on any thread, possibly
  // before this returns; it must not block. The destructor ends pending calls with kRefused.
  virtual void Call(HttpCall call, std::function<void(HttpAnswer)> done) = 0;
};

}  // namespace terrarium::api
