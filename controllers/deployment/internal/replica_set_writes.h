#pragma once

// Creates, resizes and deletes the ReplicaSets of Deployments, and records events and reasons.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "controllers/controller.h"
#include "controllers/deployment/internal/own_writes.h"
#include "controllers/deployment/internal/proportional_scaling.h"
#include "controllers/deployment/internal/sync_state.h"

namespace terrarium::controllers::deployment {

using api::Change;

inline constexpr const char* kController = "deployment-controller";

class ReplicaSetWrites {
 public:
  // `own` outlives this.
  ReplicaSetWrites(const ControllerContext& context, OwnWrites& own) : context_(context), own_(own) {}

  // Writes the ReplicaSets whose size differs, in order, up to the first failure.
  api::Task<api::Result<Change>> Resize(SyncStatePtr sync, std::vector<ScaledSet> wanted, std::string rule);
  // Patches the ReplicaSet of the current template.
  api::Task<api::Result<void>> PatchNew(SyncStatePtr sync, api::Json patch);
  // Copies the Deployment's downscalePodPicker to the ReplicaSets that have another one.
  api::Task<api::Result<Change>> HandPicker(SyncStatePtr sync);
  // Returns the apiserver's response.
  api::Task<api::Client::Written> Create(SyncStatePtr sync, api::Json replica_set);
  // ReplicaSets that are gone already count as deleted.
  api::Task<api::Result<void>> Delete(SyncStatePtr sync, std::vector<FactsPtr> sets, std::string rule);

  void RecordEvent(const SyncState& sync, std::string_view type, std::string_view reason,
                   std::string message);

 private:
  struct Action {
    std::string name;  // "create", "scale", "delete"
    std::string replica_set;
    std::string rule;
  };
  void Explain(const SyncState& sync, Action action, std::shared_ptr<const api::Json> saw);
  void RecordScaledEvent(const SyncState& sync, const ReplicaSetSize& before, std::int64_t replicas);

  ControllerContext context_;
  OwnWrites& own_;
  // The apiserver has dropped a new picker without an error, because its gate is off. Then the controller
  // does not try again.
  bool drops_pickers_ = false;
};

}  // namespace terrarium::controllers::deployment
