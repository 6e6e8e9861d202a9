#pragma once

// Deletes released volumes that the driver has provisioned, as external-provisioner does for a CSI driver.

#include <memory>
#include <string>

#include "api/core_v1/volume_binding.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/volume_driver/internal/operation_pace.h"

namespace terrarium::controllers::volume_driver {

class Deleter : public std::enable_shared_from_this<Deleter> {
 public:
  explicit Deleter(const ControllerContext& context);

  void Watch();
  void Start() { loop_.Start(); }

 private:
  api::Task<ReconcileResult> Sync(ObjectName key);
  api::Task<ReconcileResult> Delete(std::shared_ptr<const api::Volume> volume);
  api::Task<ReconcileResult> RemoveFinalizer(ObjectPtr volume);
  api::VolumeScript ScriptOf(const api::Volume& volume) const;

  ControllerContext context_;
  Informer& volumes_;
  Informer& classes_;
  OperationPace pace_;
  ControllerLoop loop_;
};

}  // namespace terrarium::controllers::volume_driver
