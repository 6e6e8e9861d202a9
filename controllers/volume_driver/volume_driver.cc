#include "controllers/volume_driver/volume_driver.h"

#include <memory>
#include <utility>

#include <spdlog/spdlog.h>

#include "api/json.h"
#include "controllers/volume_driver/internal/deleter.h"
#include "controllers/volume_driver/internal/provisioner.h"
#include "controllers/volume_driver/internal/resizer.h"

namespace terrarium::controllers {
namespace {

using api::Json;

// As in kind and minikube, a claim without a class gets a volume.
Json StandardClass() {
  return {
      {"metadata",
       {{"name", "standard"}, {"annotations", {{"storageclass.kubernetes.io/is-default-class", "true"}}}}},
      {"provisioner", "terrarium.dev/volumes"},
      {"reclaimPolicy", "Delete"},
      {"volumeBindingMode", "Immediate"},
      {"allowVolumeExpansion", true}};
}

class VolumeDriver : public std::enable_shared_from_this<VolumeDriver> {
 public:
  explicit VolumeDriver(const ControllerContext& context)
      : context_(context),
        classes_(context.informers.For("storageclasses")),
        provisioner_(std::make_shared<volume_driver::Provisioner>(context)),
        deleter_(std::make_shared<volume_driver::Deleter>(context)),
        resizer_(std::make_shared<volume_driver::Resizer>(context)) {}

  void Watch() {
    provisioner_->Watch();
    deleter_->Watch();
    resizer_->Watch();
  }

  void Start() {
    if (classes_.size() == 0) CreateStandardClass();
    provisioner_->Start();
    deleter_->Start();
    resizer_->Start();
  }

 private:
  void CreateStandardClass() {
    api::WriteRequest request;
    request.verb = api::WriteRequest::Verb::kCreate;
    request.resource = "storageclasses";
    request.body = StandardClass();
    context_.client.Send(std::move(request), [weak = weak_from_this()](const api::Client::Written& written) {
      auto self = weak.lock();
      if (self == nullptr || written || written.status().Is(api::reason::kAlreadyExists)) return;
      self->context_.env.log.warn("StorageClass standard was not created: {}", written.status().message);
    });
  }

  ControllerContext context_;
  Informer& classes_;
  std::shared_ptr<volume_driver::Provisioner> provisioner_;
  std::shared_ptr<volume_driver::Deleter> deleter_;
  std::shared_ptr<volume_driver::Resizer> resizer_;
};

}  // namespace

std::unique_ptr<Controller> MakeVolumeDriver(const ControllerContext& context) {
  return std::make_unique<SharedController<VolumeDriver>>(context);
}

}  // namespace terrarium::controllers
