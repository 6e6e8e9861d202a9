#include "controllers/deployment/deployment_controller.h"

#include "controllers/deployment/internal/deployments.h"

namespace terrarium::controllers {
namespace {

class DeploymentController final : public Controller {
 public:
  explicit DeploymentController(const ControllerContext& context)
      : deployments_(std::make_shared<deployment::Deployments>(context)) {
    deployments_->Watch();
  }
  void Start() override { deployments_->Start(); }

 private:
  std::shared_ptr<deployment::Deployments> deployments_;
};

}  // namespace

std::unique_ptr<Controller> MakeDeploymentController(const ControllerContext& context) {
  return std::make_unique<DeploymentController>(context);
}

}  // namespace terrarium::controllers
