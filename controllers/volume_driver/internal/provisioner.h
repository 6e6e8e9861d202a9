#pragma once

// Creates the volumes of claims, as external-provisioner does for a CSI driver.

#include <memory>
#include <string>
#include <string_view>

#include "api/core_v1/volume_binding.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/volume_driver/internal/operation_pace.h"

namespace terrarium::controllers::volume_driver {

class Provisioner : public std::enable_shared_from_this<Provisioner> {
 public:
  explicit Provisioner(const ControllerContext& context);

  void Watch();
  void Start() { loop_.Start(); }

 private:
  void ClassAdded(const ObjectPtr& storage_class);
  api::Task<ReconcileResult> Sync(ObjectName name);
  void Fail(const api::VolumeClaim& claim, std::string message, const api::VolumeOperation& operation);
  void RecordEvent(const api::VolumeClaim& claim, std::string_view type, std::string_view reason,
                   std::string message);

  ControllerContext context_;
  Informer& claims_;
  Informer& classes_;
  Informer& nodes_;
  OperationPace pace_;
  ControllerLoop loop_;
};

}  // namespace terrarium::controllers::volume_driver
