#pragma once

// One control plane: its store, its apiserver and the other components, connected on one runtime.

#include <cstdint>
#include <memory>
#include <string>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/base/status.h"
#include "apiserver/gate_log.h"
#include "apiserver/handler.h"
#include "apiserver/restartable_handler.h"
#include "storage/sqlite_store.h"
#include "storage/store.h"
#include "testbed/control_plane/components.h"
#include "testbed/runtime/runtime.h"

namespace terrarium::testbed {

class CallTargets;
class EventExpiry;

struct ControlPlaneOptions {
  std::string data_file = {};  // empty: in memory
  bool data_symlinks = true;   // the path of data_file may contain symbolic links
  storage::Durability durability = storage::Durability::kFull;
  std::uint64_t seed = 1;
  api::FeatureGates gates = {};  // the apiserver's
  apiserver::HandlerOptions handler = {};
  // The targets of calls to the users' services. Null: the control plane makes its own.
  std::shared_ptr<CallTargets> call_targets = {};
  // How long an Event is kept after it was last written.
  api::Duration event_ttl = std::chrono::hours(1);
  // Comma-separated names, as kube-apiserver's flags. ServiceAccount is on without being named if
  // serviceaccount-controller runs.
  std::string enable_admission_plugins = {};
  std::string disable_admission_plugins = {};
};

class ControlPlane {
 public:
  // `runtime` and `log` outlive the control plane. The components other than the apiserver begin on their
  // lanes as soon as a driver runs the runtime. Fails when the data file cannot be used.
  // Fails also when a plugin is unknown.
  static api::Result<std::unique_ptr<ControlPlane>> Make(Runtime& runtime, spdlog::logger& log,
                                                         ControlPlaneOptions options,
                                                         const ComponentOptions& components);
  // REQUIRES: no driver runs the runtime any more.
  ~ControlPlane();

  Runtime& runtime() { return runtime_; }
  const api::Env& env() const { return env_; }  // the apiserver's, with the gates of its first start
  apiserver::Handler& handler() { return *handler_; }
  storage::Store& store() { return *store_; }
  Components& components() { return *components_; }
  CallTargets& call_targets() { return *call_targets_; }

  // Changes of the components' gates, and how they affected the fields behind them. Thread-safe.
  const apiserver::GateLog& gate_log() const { return gate_log_; }

  // Ends all watches and makes every acknowledged write durable. Idempotent.
  void Shutdown();

  // How many pieces of work one instant may have in a control plane of so many objects. A ReplicaSet of two
  // billion replicas creates objects without end, so what more objects allow is limited as well.
  static std::int64_t PiecesAllowed(std::size_t objects);

 private:
  ControlPlane(Runtime& runtime, spdlog::logger& log, ControlPlaneOptions options);
  api::Result<void> OpenStore(const ControlPlaneOptions& options);
  // For Runtime::SetInstantPieces.
  std::int64_t InstantPieces() const;

  Runtime& runtime_;
  const api::FeatureGates gates_;
  api::Prng prng_;  // the components' own streams are forked from it
  api::Prng apiserver_prng_;
  api::Env env_;
  std::unique_ptr<storage::Store> store_;
  std::shared_ptr<EventExpiry> event_expiry_;
  std::shared_ptr<CallTargets> call_targets_;
  apiserver::GateLog gate_log_;
  std::unique_ptr<apiserver::RestartableHandler> handler_;
  std::unique_ptr<Components> components_;
};

}  // namespace terrarium::testbed
