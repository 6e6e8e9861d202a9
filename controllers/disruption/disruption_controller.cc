#include "controllers/disruption/disruption_controller.h"

#include <utility>

#include "controllers/disruption/internal/budgets.h"

namespace terrarium::controllers {
namespace {

class DisruptionController final : public Controller {
 public:
  DisruptionController(const ControllerContext& context, std::vector<ServedResource> resources)
      : budgets_(std::make_shared<disruption::Budgets>(context, std::move(resources))) {
    budgets_->Watch();
  }
  void Start() override { budgets_->Start(); }

 private:
  std::shared_ptr<disruption::Budgets> budgets_;
};

}  // namespace

std::unique_ptr<Controller> MakeDisruptionController(const ControllerContext& context,
                                                     std::vector<ServedResource> resources) {
  return std::make_unique<DisruptionController>(context, std::move(resources));
}

}  // namespace terrarium::controllers
