#pragma once

#include <memory>

#include <spdlog/logger.h>

#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "apiserver/handler.h"
#include "storage/store.h"
#include "tests/hostile/shapes.h"
#include "tests/wire/manual_runtime.h"

namespace terrarium::hostile {

// An apiserver on a store in memory that serves on the caller's thread, so that the thread's CPU time is the
// cost of a request.
class HostileServer {
 public:
  HostileServer();
  apiserver::Response Serve(apiserver::Request request);

 private:
  wire::ManualRuntime runtime_;
  api::Prng prng_;
  api::FeatureGates gates_;
  spdlog::logger log_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<apiserver::Handler> handler_;
};

struct Served {
  double cpu_ms = 0;  // of this thread, for the last request of the exchange
  int code = 0;
  std::string error;  // of the first request before the last one that failed, or empty
};

// Plays the exchange on a new server.
Served Play(const Exchange& exchange);

}  // namespace terrarium::hostile
