#pragma once

// The apiserver without HTTP: takes a plain request and gives back a response or a stream. Thread-safe.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/base/env.h"
#include "api/client.h"
#include "apiserver/request.h"

namespace terrarium::storage {
class Store;
}

namespace terrarium::apiserver {

class GateLog;
class Uptime;

// What a container has printed; the kubelet provides it. nullopt: nothing runs there (yet).
using PodLogSource = std::function<std::optional<std::string>(const std::string& ns, const std::string& pod,
                                                              const std::string& container)>;

// Who a bearer token belongs to; nullopt: nobody.
using TokenAuthenticator = std::function<std::optional<UserInfo>(const std::string& token)>;

struct HandlerOptions {
  // Requests being served at once, as kube-apiserver's flags of the same names count them; watches are not counted.
  int max_requests_inflight = 400;
  int max_mutating_requests_inflight = 200;
  std::size_t object_bytes_max = 3 * 512 * 1024;  // 1.5 MiB, etcd's limit
  // A request that has no answer after this long gets 504; watches and logs go on.
  api::Duration request_timeout = std::chrono::seconds(60);
  api::Duration bookmark_period = std::chrono::minutes(1);
  // A watch that names no timeoutSeconds ends after this long, as the real one does between 30 and 60 minutes.
  api::Duration watch_timeout_min = std::chrono::minutes(30);
  std::size_t watch_buffer_events = 1000;
  // The time in which connections live: how long a client waits for an answer, when its watch ends or gets a bookmark.
  // A client counts the world's seconds, whatever the plane's clock does. Unset: the plane's own.
  const api::Clock* connection_clock = nullptr;
  api::Executor* connection_executor = nullptr;
  PodLogSource pod_log;
  std::function<std::string()> more_metrics;  // Prometheus text of the components beside the apiserver
  GateLog* gate_log = nullptr;  // where to tell what became of fields that have a gate; it outlives the handler
  TokenAuthenticator authenticate;  // for TokenReviews; requests come with their user already known
};

class Handler {
 public:
  // `env` and `store` outlive the handler. Creates the namespaces every cluster has when they are missing.
  static std::unique_ptr<Handler> Make(const api::Env& env, storage::Store& store, HandlerOptions options);
  virtual ~Handler() = default;

  // Calls `respond` exactly once, possibly later and from another thread.
  virtual void Serve(Request request, Responder respond) = 0;
  // The same for a caller in the same process: everything holds that holds over HTTP, but no text is made and the caller
  // does not count as in flight. `done` is called exactly once, possibly before this returns or from another thread.
  virtual void Write(api::WriteRequest request, UserInfo user, api::Client::WriteDone done) = 0;
  // The run of the server that a caller in the same process is connected to, so that it notices its end. nullptr: the
  // server is down.
  virtual std::shared_ptr<Uptime> Connect() = 0;
};

}  // namespace terrarium::apiserver
