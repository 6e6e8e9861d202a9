#include "controllers/replicaset/replicaset_controller.h"

#include "controllers/replicaset/internal/replica_kind.h"
#include "controllers/replicaset/internal/replica_manager.h"

namespace terrarium::controllers {
namespace {

class ReplicaController final : public Controller {
 public:
  ReplicaController(const ControllerContext& context, const replicaset::ReplicaKind& kind)
      : manager_(std::make_shared<replicaset::ReplicaManager>(context, kind)) {
    manager_->Watch();
  }
  void Start() override { manager_->Start(); }

 private:
  std::shared_ptr<replicaset::ReplicaManager> manager_;
};

}  // namespace

std::unique_ptr<Controller> MakeReplicaSetController(const ControllerContext& context) {
  return std::make_unique<ReplicaController>(context, replicaset::kReplicaSet);
}

std::unique_ptr<Controller> MakeReplicationController(const ControllerContext& context) {
  return std::make_unique<ReplicaController>(context, replicaset::kReplicationController);
}

}  // namespace terrarium::controllers
