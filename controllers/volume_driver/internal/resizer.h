#pragma once

// Grows the volumes of claims, and gives them other VolumeAttributesClasses, as external-resizer does for a
// CSI driver.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/core_v1/volume_binding.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/volume_driver/internal/operation_pace.h"

namespace terrarium::controllers::volume_driver {

class Resizer : public std::enable_shared_from_this<Resizer> {
 public:
  explicit Resizer(const ControllerContext& context);

  void Watch();
  void Start() { loop_.Start(); }

 private:
  using Failure = std::optional<api::Status>;

  void Seen(const ObjectPtr& claim);
  api::Task<ReconcileResult> Sync(ObjectName name);
  api::Task<Failure> Resize(ObjectPtr claim, ObjectPtr volume, std::string size);
  api::Task<Failure> SetAttributesClass(ObjectPtr claim, ObjectPtr volume, std::string class_name);
  api::Task<Failure> WriteStatus(ObjectPtr claim, api::Json status);
  api::Task<Failure> WriteVolume(api::Json volume);
  api::VolumeScript ScriptOf(const api::Object& claim) const;
  void RecordEvent(const api::Object& claim, const api::Object& volume, std::string_view type,
                   std::string_view reason, std::string message);

  ControllerContext context_;
  Informer& claims_;
  Informer& volumes_;
  Informer& classes_;
  Informer& attributes_classes_;
  OperationPace pace_;
  ControllerLoop loop_;
};

}  // namespace terrarium::controllers::volume_driver
