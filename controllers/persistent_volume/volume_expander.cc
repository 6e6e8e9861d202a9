#include "controllers/persistent_volume/volume_expander.h"

#include <string>
#include <utility>

#include "api/base/errors.h"
#include "api/base/quantity.h"
#include "api/core_v1/volume_binding.h"
#include "api/json_access.h"
#include "controllers/runtime/controller_loop.h"

namespace terrarium::controllers {
namespace {

using api::Json;

api::Quantity Requested(const Json& claim) {
  return api::StorageIn(api::ObjectAt(claim, "spec", "resources", "requests"));
}
api::Quantity Capacity(const Json& claim) {
  return api::StorageIn(api::ObjectAt(claim, "status", "capacity"));
}

class VolumeExpander : public std::enable_shared_from_this<VolumeExpander> {
 public:
  explicit VolumeExpander(const ControllerContext& context)
      : context_(context),
        claims_(context.informers.For("persistentvolumeclaims")),
        loop_(context.env, context.metrics,
              LoopOptions{.name = "volume_expand", .workers = 10, .retry = {}, .retries_max = 0},
              [this](ObjectName name) { return Sync(std::move(name)); }) {}

  void Watch() {
    auto seen = [weak = weak_from_this()](const ObjectPtr& old, const ObjectPtr& claim) {
      auto self = weak.lock();
      if (self == nullptr || claim->header().phase.text() != "Bound") return;
      if (old != nullptr && Requested(*claim->Document()) <= Requested(*old->Document())) return;
      self->loop_.queue().Add(claim->name());
    };
    claims_.AddHandler({.added = [seen](const ObjectPtr& claim) { seen(nullptr, claim); },
                        .updated = seen,
                        .deleted = nullptr});
  }
  void Start() { loop_.Start(); }

 private:
  api::Task<ReconcileResult> Sync(ObjectName name) {
    const ObjectPtr claim = claims_.Get(name);
    if (claim == nullptr) co_return Reconciled::Done();
    const auto document = claim->Document();
    if (Requested(*document) <= Capacity(*document)) co_return Reconciled::Done();
    const std::string volume_name(api::StringAt(*document, "spec", "volumeName"));
    const api::Result<ObjectPtr> found = context_.client.Get("persistentvolumes", {"", volume_name});
    if (!found) {
      api::Status status = found.status();
      status.message = "failed to get PV \"" + volume_name + "\": " + status.message;
      co_return status;
    }
    const api::Volume volume = api::ReadVolume(*found);
    if (!volume.claim || volume.claim->uid != claim->header().uid)
      co_return api::GenericServerError("persistent Volume is not bound to PVC being updated : " +
                                        name.String());
    context_.recorder.Record({.component = "volume_expand"},
                             ReferenceTo(*claim, "v1", "PersistentVolumeClaim"), kNormal, "ExternalExpanding",
                             "waiting for an external controller to expand this PVC");
    co_return Reconciled::Done();
  }

  ControllerContext context_;
  Informer& claims_;
  ControllerLoop loop_;
};

}  // namespace

std::unique_ptr<Controller> MakeVolumeExpander(const ControllerContext& context) {
  return std::make_unique<SharedController<VolumeExpander>>(context);
}

}  // namespace terrarium::controllers
