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
#include "controllers/deployment/internal/round.h"

namespace terrarium::controllers::deployment {

using api::Change;

inline constexpr const char* kController = "deployment-controller";

class ReplicaSetWrites {
 public:
  // `own` outlives this.
  ReplicaSetWrites(const ControllerContext& context, OwnWrites& own) : context_(context), own_(own) {}

  // ReplicaSets that have the wanted size are left alone; the others are written in their order, up to the
  // first failure.
  api::Task<api::Result<Change>> Resize(RoundPtr round, std::vector<ScaledSet> wanted, std::string rule);
  // Patches the ReplicaSet of the current template.
  api::Task<api::Result<void>> PatchNew(RoundPtr round, api::Json patch);
  // Gives the Deployment's downscalePodPicker to the ReplicaSets that have another one.
  api::Task<api::Result<Change>> HandPicker(RoundPtr round);
  // Returns the apiserver's answer.
  api::Task<api::Client::Written> Create(RoundPtr round, api::Json replica_set);
  // ReplicaSets that are gone already count as deleted.
  api::Task<api::Result<void>> Delete(RoundPtr round, std::vector<FactsPtr> sets, std::string rule);

  void Tell(const Round& round, std::string_view type, std::string_view reason, std::string message);

 private:
  struct Action {
    std::string name;  // "create", "scale", "delete"
    std::string replica_set;
    std::string rule;
  };
  void Explain(const Round& round, Action action, std::shared_ptr<const api::Json> saw);
  void TellScaled(const Round& round, const ReplicaSetSize& before, std::int64_t replicas);

  ControllerContext context_;
  OwnWrites& own_;
  // The apiserver takes no picker that a ReplicaSet has not had before, and says nothing: its gate is off.
  // Where that has been seen once, it is not tried again.
  bool drops_pickers_ = false;
};

}  // namespace terrarium::controllers::deployment
