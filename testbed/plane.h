#pragma once

// One control plane: its store, its apiserver and the components beside it, wired together on one runtime.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/base/status.h"
#include "apiserver/gate_log.h"
#include "apiserver/handler.h"
#include "apiserver/restartable_handler.h"
#include "storage/sqlite_store.h"
#include "storage/store.h"
#include "testbed/component_change.h"
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
  const api::Env& env() const { return env_; }  // the apiserver's, with the gates of its first start
  apiserver::Handler& handler() { return *handler_; }
  storage::Store& store() { return *store_; }
  Components& components() { return *components_; }
  CallTargets& call_targets() { return *call_targets_; }

  // The components, the apiserver among them: see Components. Thread-safe.
  std::vector<ComponentInfo> ListComponents() const;
  std::optional<ComponentInfo> FindComponent(std::string_view component) const;
  void Change(const std::string& component, ComponentChange change, ChangeDone done);
  // Changes of their gates, and what became of the fields these rule. Thread-safe.
  const apiserver::GateLog& gate_log() const { return gate_log_; }
  // REQUIRES: the caller is the only thread there is, and in no piece of work.
  ChangeResult ChangeNow(const std::string& component, const ComponentChange& change);

  // Ends all watches and makes every acknowledged write durable. Idempotent.
  void Shutdown();

 private:
  Plane(Runtime& runtime, spdlog::logger& log, PlaneOptions options);
  api::Result<bool> OpenStore(const PlaneOptions& options);
  ComponentInfo ApiServer() const;
  ChangeResult ChangeApiServer(const ComponentChange& change);

  Runtime& runtime_;
  const api::FeatureGates gates_;
  api::Prng prng_;            // from which the components' own streams are forked
  api::Prng apiserver_prng_;
  api::Env env_;
  std::unique_ptr<storage::Store> store_;
  std::shared_ptr<CallTargets> call_targets_;
  apiserver::GateLog gate_log_;
  std::unique_ptr<apiserver::RestartableHandler> handler_;
  mutable std::mutex mutex_;
  ComponentInfo apiserver_;   // guarded by mutex_
  std::mutex change_mutex_;   // one change of the apiserver at a time
  std::unique_ptr<Components> components_;
};

}  // namespace terrarium::testbed
