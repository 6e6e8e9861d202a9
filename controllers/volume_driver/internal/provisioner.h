#pragma once

// Creates the volumes of claims, as external-provisioner does for a CSI driver.

#include <memory>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/core_v1/volume_binding.h"
#include "api/json.h"
#include "api/storage_v1/volume_script.h"
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
  api::Task<ReconcileResult> Reschedule(ObjectPtr claim);
  api::Result<api::Json> MakeVolume(const api::VolumeClaim& claim, const api::Json& storage_class,
                                    const api::VolumeScript& script, const ObjectPtr& node) const;
  void Explain(const api::VolumeClaim& claim);
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
