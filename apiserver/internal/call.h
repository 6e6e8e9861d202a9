#pragma once

// One request on its way through the verbs.

#include <memory>
#include <string>
#include <vector>

#include "api/base/env.h"
#include "api/object.h"
#include "apiserver/handler.h"
#include "apiserver/internal/router.h"
#include "apiserver/metrics.h"
#include "apiserver/negotiate.h"
#include "apiserver/strategy.h"
#include "storage/store.h"

namespace terrarium::apiserver {

// What all calls of a handler share.
struct Server {
  api::Env env;
  storage::Store& store;
  HandlerOptions options;
  Metrics& metrics;

  StrategyContext Context() const;
};

struct Call {
  Server& server;
  Request request;
  Route route;
  Negotiated output;
  Responder respond;
  std::vector<std::string> warnings;

  const ResourceInfo& resource() const { return *route.resource; }
  const Strategy& strategy() const { return *route.resource->strategy; }
  storage::ObjectKey Key() const { return KeyOf(route.name); }
  storage::ObjectKey KeyOf(std::string name) const {
    return {std::string(route.resource->storage), route.ns, std::move(name)};
  }
};

// Shared, since an answer may come from the store's commit thread after the verb's function has returned.
using CallPtr = std::shared_ptr<Call>;

}  // namespace terrarium::apiserver
