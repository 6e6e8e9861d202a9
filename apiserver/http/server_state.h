#pragma once

// The state shared by all connections of a server. Thread-safe; outlives them.

#include <atomic>
#include <chrono>
#include <utility>

#include "apiserver/http/byte_budget.h"
#include "apiserver/http/deadline_queue.h"
#include "apiserver/http/http_server.h"
#include "apiserver/http/worker_pool.h"
#include "apiserver/request_group.h"

namespace terrarium::apiserver {

struct ServerState {
  using Clock = SteadyTime (*)();

  ServerState(HttpOptions given, HttpServer::Serve function, Clock clock = std::chrono::steady_clock::now)
      : options(std::move(given)),
        serve(std::move(function)),
        now(clock),
        received(options.received_bytes_max),
        unsent(options.unsent_bytes_max),
        workers(options.workers) {}

  const HttpOptions options;
  const HttpServer::Serve serve;
  const Clock now;
  ByteBudget received;  // requests without a response yet
  ByteBudget unsent;    // responses that are not sent yet
  WorkerPool workers;
  // Closed when the server stops. Streams may outlive the connections.
  const RequestGroupPtr requests = std::make_shared<RequestGroup>();
  std::atomic<int> sending = 0;  // connections with a response to send
  std::atomic<int> streams = 0;  // connections whose response is a stream
};

}  // namespace terrarium::apiserver
