#include "controllers/volume_driver/internal/resizer.h"

#include <utility>

#include "api/json_access.h"
#include "controllers/volume_driver/internal/claim_growth.h"

namespace terrarium::controllers::volume_driver {
namespace {

using api::Json;
using api::Task;

constexpr const char* kClaims = "persistentvolumeclaims";
constexpr const char* kVolumes = "persistentvolumes";

std::string DriverOf(const Json& volume) {
  return std::string(api::StringAt(volume, "metadata", "annotations", api::kProvisionedBy));
}

}  // namespace

Resizer::Resizer(const ControllerContext& context)
    : context_(context),
      claims_(context.informers.For(kClaims)),
      volumes_(context.informers.For(kVolumes)),
      classes_(context.informers.For("storageclasses")),
      attributes_classes_(context.informers.For("volumeattributesclasses")),
      pace_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      loop_(context.env, context.metrics,
            LoopOptions{.name = "volume_driver_resize", .workers = 10, .retry = {}, .retries_max = 0},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void Resizer::Watch() {
  std::weak_ptr<Resizer> weak = weak_from_this();
  auto seen = [weak](const ObjectPtr& claim) {
    if (auto self = weak.lock()) self->Seen(claim);
  };
  claims_.AddHandler({.added = seen,
                      .updated = [seen](const ObjectPtr&, const ObjectPtr& claim) { seen(claim); },
                      .deleted =
                          [weak](const ObjectPtr& claim) {
                            if (auto self = weak.lock()) self->pace_.Forget(claim->name());
                          }});
  EventHandler attributes_classes;
  attributes_classes.added = [weak](const ObjectPtr&) {
    auto self = weak.lock();
    if (self == nullptr) return;
    // Rare, and a claim that names a missing class is a mistake of its user.
    for (const ObjectPtr& claim : self->claims_.List()) self->Seen(claim);
  };
  attributes_classes_.AddHandler(std::move(attributes_classes));
}

void Resizer::Seen(const ObjectPtr& claim) {
  const auto document = claim->Document();
  if (WantedSize(*document) || WantedAttributesClass(*document))
    loop_.queue().Add(claim->name());
  else
    pace_.Forget(claim->name());
}

api::VolumeScript Resizer::ScriptOf(const api::Object& claim) const {
  const ObjectPtr storage_class = classes_.Get({"", api::ClassOfClaim(*claim.Document()).value_or("")});
  return storage_class == nullptr ? api::VolumeScript() : api::ReadVolumeScript(*storage_class->Document());
}

Task<ReconcileResult> Resizer::Sync(ObjectName name) {
  const ObjectPtr claim = claims_.Get(name);
  if (claim == nullptr) co_return Reconciled::Done();
  const auto document = claim->Document();
  const ObjectPtr volume = volumes_.Get({"", std::string(api::StringAt(*document, "spec", "volumeName"))});
  if (volume == nullptr) co_return Reconciled::Done();
  const api::Volume bound = api::ReadVolume(volume);
  const bool mine = bound.claim && bound.claim->uid == claim->header().uid && !bound.provisioned_by.empty() &&
                    ScriptOf(*claim).provision;
  if (!mine) co_return Reconciled::Done();
  Failure failure;
  if (const std::optional<std::string> size = WantedSize(*document)) {
    Task<Failure> resizing = Resize(claim, volume, *size);
    failure = co_await std::move(resizing);
  } else if (const std::optional<std::string> class_name = WantedAttributesClass(*document)) {
    Task<Failure> setting = SetAttributesClass(claim, volume, *class_name);
    failure = co_await std::move(setting);
  }
  if (failure) co_return std::move(*failure);
  co_return Reconciled::Done();
}

Task<Resizer::Failure> Resizer::Resize(ObjectPtr claim, ObjectPtr volume, std::string size) {
  const ObjectName name = claim->name();
  const api::VolumeOperation operation = ScriptOf(*claim).resizing;
  const OperationPace::Turn turn = pace_.Next(*claim, operation);
  if (turn == OperationPace::Turn::kLater) co_return std::nullopt;
  if (turn == OperationPace::Turn::kFirst) {
    RecordEvent(*claim, *volume, kNormal, "Resizing",
                "External resizer is resizing volume " + volume->name().name);
    Json status = GrowingStatus(*claim->Document(), size, context_.env.clock.Now());
    if (status != api::ObjectAt(*claim->Document(), "status")) {
      // The event of this write brings the claim back, if it needs no delay.
      Task<Failure> writing = WriteStatus(claim, std::move(status));
      Failure failure = co_await std::move(writing);
      co_return failure;
    }
    // A driver that was restarted in the middle continues.
    if (operation.delay > api::Duration::zero()) co_return std::nullopt;
  }
  if (operation.Fails(pace_.Failures(name))) {
    RecordEvent(*claim, *volume, kWarning, "VolumeResizeFailed",
                "resize volume \"" + volume->name().name + "\" by resizer \"" +
                    DriverOf(*volume->Document()) + "\" failed: " + operation.error);
    pace_.Failed(name, operation);
    co_return std::nullopt;
  }
  Json grown = volume->Parse();
  if (api::StringAt(grown, "spec", "capacity", "storage") != size) {
    grown["spec"]["capacity"]["storage"] = size;
    Task<Failure> writing = WriteVolume(std::move(grown));
    Failure failure = co_await std::move(writing);
    if (failure) co_return failure;
  }
  Task<Failure> writing = WriteStatus(claim, GrownStatus(*claim->Document(), size));
  Failure failure = co_await std::move(writing);
  if (failure) co_return failure;
  RecordEvent(*claim, *volume, kNormal, "VolumeResizeSuccessful", "Resize volume succeeded");
  co_return std::nullopt;
}

Task<Resizer::Failure> Resizer::SetAttributesClass(ObjectPtr claim, ObjectPtr volume,
                                                   std::string class_name) {
  const ObjectPtr attributes = attributes_classes_.Get({"", class_name});
  const auto of_volume = volume->Document();
  const bool fits = attributes != nullptr && api::StringAt(*attributes->Document(), "driverName") ==
                                                 api::StringAt(*of_volume, "spec", "csi", "driver");
  if (!fits) co_return std::nullopt;
  RecordEvent(*claim, *volume, kNormal, "VolumeModify",
              "external resizer is modifying volume " + claim->name().name + " with vac " + class_name);
  if (api::StringAt(*of_volume, "spec", "volumeAttributesClassName") != class_name) {
    Json changed = volume->Parse();
    changed["spec"]["volumeAttributesClassName"] = class_name;
    Task<Failure> writing = WriteVolume(std::move(changed));
    Failure failure = co_await std::move(writing);
    if (failure) co_return failure;
  }
  Json status = api::ObjectAt(*claim->Document(), "status");
  status["currentVolumeAttributesClassName"] = class_name;
  Task<Failure> writing = WriteStatus(claim, std::move(status));
  Failure failure = co_await std::move(writing);
  if (failure) co_return failure;
  RecordEvent(
      *claim, *volume, kNormal, "VolumeModifySuccessful",
      "external resizer modified volume " + claim->name().name + " with vac " + class_name + " successfully");
  co_return std::nullopt;
}

Task<Resizer::Failure> Resizer::WriteStatus(ObjectPtr claim, Json status) {
  Json document = claim->Parse();
  document["status"] = std::move(status);
  api::Awaitable<api::Client::Written> updating = context_.client.UpdateStatus(kClaims, std::move(document));
  const api::Client::Written written = co_await std::move(updating);
  co_return written ? Failure() : Failure(written.status());
}

Task<Resizer::Failure> Resizer::WriteVolume(Json volume) {
  api::Awaitable<api::Client::Written> updating = context_.client.Update(kVolumes, std::move(volume));
  const api::Client::Written written = co_await std::move(updating);
  co_return written ? Failure() : Failure(written.status());
}

void Resizer::RecordEvent(const api::Object& claim, const api::Object& volume, std::string_view type,
                          std::string_view reason, std::string message) {
  context_.recorder.Record({.component = "external-resizer " + DriverOf(*volume.Document())},
                           ReferenceTo(claim, "v1", "PersistentVolumeClaim"), type, reason,
                           std::move(message));
}

}  // namespace terrarium::controllers::volume_driver
