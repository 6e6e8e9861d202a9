#pragma once

// One request as the verbs see it.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/env.h"
#include "api/client.h"
#include "api/object.h"
#include "apiserver/gate_log.h"
#include "apiserver/handler.h"
#include "apiserver/internal/router.h"
#include "apiserver/metrics.h"
#include "apiserver/negotiate.h"
#include "apiserver/resource_registry.h"
#include "apiserver/strategy.h"
#include "storage/store.h"

namespace terrarium::apiserver {

// The state shared by all calls of a handler.
struct Server {
  api::Env env;
  storage::Store& store;
  HandlerOptions options;
  Metrics& metrics;
  ResourceRegistry& registry;

  StrategyContext Context() const;
  const api::Clock& ConnectionClock() const {
    return options.connection_clock != nullptr ? *options.connection_clock : env.clock;
  }
  api::Executor& ConnectionExecutor() const {
    return options.connection_executor != nullptr ? *options.connection_executor : env.executor;
  }
};

struct Call {
  Server& server;
  Request request;
  Route route;
  Negotiated output;
  Responder respond;
  std::vector<std::string> warnings;
  // For a caller in the same process: the body as a document, and a response without text. `respond` is not
  // used then.
  std::optional<Json> document = std::nullopt;
  api::Client::WriteDone written = nullptr;
  std::vector<GateNote> gate_notes = {};  // of the current attempt to write

  const ResourceInfo& resource() const { return *route.resource; }
  const Strategy& strategy() const { return *route.resource->strategy; }
  storage::ObjectKey Key() const { return KeyOf(route.name); }
  storage::ObjectKey KeyOf(std::string name) const {
    return {std::string(route.resource->storage), route.ns, std::move(name)};
  }
};

// Shared, since the response may come from the store's commit thread after the verb's function has returned.
using CallPtr = std::shared_ptr<Call>;

}  // namespace terrarium::apiserver
