#pragma once

// One control plane: its store, its apiserver and the components beside it, wired together on one runtime.

#include <cstdint>
#include <memory>
#include <string>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/base/status.h"
#include "apiserver/handler.h"
#include "storage/sqlite_store.h"
#include "storage/store.h"
#include "testbed/runtime.h"

namespace terrarium::testbed {

class CallTargets;
class Components;
struct ComponentOptions;

struct PlaneOptions {
  std::string data_file = {};  // empty: in memory
  storage::Durability durability = storage::Durability::kFull;
  std::uint64_t seed = 1;
  api::FeatureGates gates = {};  // the apiserver's
  apiserver::HandlerOptions handler = {};
  // Where calls to the users' services go, for whoever makes them. Empty: the plane makes its own.
  std::shared_ptr<CallTargets> call_targets = {};
};

class Plane {
 public:
  // `runtime` and `log` outlive the plane. The components beside the apiserver begin their work on their lanes, as soon
  // as somebody runs them. Fails when the data file cannot be used.
  static api::Result<std::unique_ptr<Plane>> Make(Runtime& runtime, spdlog::logger& log, PlaneOptions options,
                                                  const ComponentOptions& components);
  // REQUIRES: nobody runs the runtime any more.
  ~Plane();

  Runtime& runtime() { return runtime_; }
  const api::Env& env() const { return env_; }  // the apiserver's
  apiserver::Handler& handler() { return *handler_; }
  storage::Store& store() { return *store_; }
  Components& components() { return *components_; }
  CallTargets& call_targets() { return *call_targets_; }

  // Ends all watches and makes every acknowledged write durable. Idempotent.
  void Shutdown();

 private:
  Plane(Runtime& runtime, spdlog::logger& log, PlaneOptions options);
  api::Result<bool> OpenStore(const PlaneOptions& options);

  Runtime& runtime_;
  api::FeatureGates gates_;
  api::Prng prng_;            // from which the components' own streams are forked
  api::Prng apiserver_prng_;
  api::Env env_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<apiserver::Handler> handler_;
  std::shared_ptr<CallTargets> call_targets_;
  std::unique_ptr<Components> components_;
};

}  // namespace terrarium::testbed
