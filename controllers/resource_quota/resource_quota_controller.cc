#include "controllers/resource_quota/resource_quota_controller.h"

#include <utility>

#include "controllers/resource_quota/internal/quotas.h"

namespace terrarium::controllers {
namespace {

class ResourceQuotaController final : public Controller {
 public:
  ResourceQuotaController(const ControllerContext& context, std::vector<ServedResource> resources)
      : quotas_(std::make_shared<resource_quota::Quotas>(context, std::move(resources))) {
    quotas_->Watch();
  }
  void Start() override { quotas_->Start(); }

 private:
  std::shared_ptr<resource_quota::Quotas> quotas_;
};

}  // namespace

std::unique_ptr<Controller> MakeResourceQuotaController(const ControllerContext& context,
                                                        std::vector<ServedResource> resources) {
  return std::make_unique<ResourceQuotaController>(context, std::move(resources));
}

}  // namespace terrarium::controllers
