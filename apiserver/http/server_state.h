#pragma once

// What all connections of a server share. Thread-safe; outlives them.

#include <atomic>
#include <chrono>
#include <utility>

#include "apiserver/http/byte_budget.h"
#include "apiserver/http/deadline_queue.h"
#include "apiserver/http/http_server.h"
#include "apiserver/http/worker_pool.h"

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
  ByteBudget received;  // requests that have no answer yet
  ByteBudget unsent;    // answers that have not left yet
  WorkerPool workers;
  std::atomic<int> inflight = 0;  // requests that `serve` has not answered
  std::atomic<int> sending = 0;   // connections that have an answer to send
  std::atomic<int> streams = 0;
  std::atomic<bool> stopping = false;
};

}  // namespace terrarium::apiserver
