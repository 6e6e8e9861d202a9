#include "controllers/volume_driver/internal/deleter.h"

#include <utility>

#include "api/json_access.h"
#include "controllers/volume_driver/internal/new_volume.h"

namespace terrarium::controllers::volume_driver {
namespace {

using api::Json;

constexpr const char* kVolumes = "persistentvolumes";

// Provisioned by a driver that is not part of kube-controller-manager.
bool IsProvisioned(const api::Object& volume) {
  const auto document = volume.Document();
  const std::string_view provisioner =
      api::StringAt(*document, "metadata", "annotations", api::kProvisionedBy);
  return !provisioner.empty() && !provisioner.starts_with("kubernetes.io/");
}

bool HasDriverFinalizer(const api::Object& volume) { return api::HasFinalizer(volume, kDriverFinalizer); }

}  // namespace

Deleter::Deleter(const ControllerContext& context)
    : context_(context),
      volumes_(context.informers.For(kVolumes)),
      classes_(context.informers.For("storageclasses")),
      pace_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      loop_(context.env, context.metrics,
            LoopOptions{.name = "volume_driver_delete", .workers = 10, .retry = {}, .retries_max = 0},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void Deleter::Watch() {
  std::weak_ptr<Deleter> weak = weak_from_this();
  auto seen = [weak](const ObjectPtr& volume) {
    auto self = weak.lock();
    if (self != nullptr && IsProvisioned(*volume)) self->loop_.queue().Add(volume->name());
  };
  volumes_.AddHandler({.added = seen,
                       .updated = [seen](const ObjectPtr&, const ObjectPtr& volume) { seen(volume); },
                       .deleted =
                           [weak](const ObjectPtr& volume) {
                             if (auto self = weak.lock()) self->pace_.Forget(volume->name());
                           }});
}

api::VolumeScript Deleter::ScriptOf(const api::Volume& volume) const {
  const ObjectPtr storage_class = classes_.Get({"", volume.class_name});
  return storage_class == nullptr ? api::VolumeScript() : api::ReadVolumeScript(*storage_class->Document());
}

api::Task<ReconcileResult> Deleter::Sync(ObjectName key) {
  const ObjectPtr object = volumes_.Get(key);
  if (object == nullptr || !IsProvisioned(*object)) co_return Reconciled::Done();
  auto volume = std::make_shared<const api::Volume>(api::ReadVolume(object));
  ReconcileResult result = Reconciled::Done();
  if (volume->reclaim_policy != "Delete") {
    // The volume outlives its object.
    if (!HasDriverFinalizer(*object)) co_return result;
    api::Task<ReconcileResult> removing = RemoveFinalizer(object);
    result = co_await std::move(removing);
  } else if (object->header().phase.text() == "Released") {
    api::Task<ReconcileResult> deleting = Delete(volume);
    result = co_await std::move(deleting);
  }
  co_return result;
}

api::Task<ReconcileResult> Deleter::Delete(std::shared_ptr<const api::Volume> volume) {
  const ObjectName key = volume->object->name();
  const api::VolumeScript script = ScriptOf(*volume);
  if (!script.provision) co_return Reconciled::Done();
  const OperationPace::Turn turn = pace_.Next(*volume->object, script.deletion);
  if (turn == OperationPace::Turn::kLater ||
      (turn == OperationPace::Turn::kFirst && script.deletion.delay > api::Duration::zero()))
    co_return Reconciled::Done();
  if (script.deletion.Fails(pace_.Failures(key))) {
    context_.recorder.Record({.component = volume->provisioned_by},
                             ReferenceTo(*volume->object, "v1", "PersistentVolume"), kWarning,
                             "VolumeFailedDelete", script.deletion.error);
    pace_.Failed(key, script.deletion);
    co_return Reconciled::Done();
  }
  if (!volume->header().deleting) {
    api::DeleteRequest options;
    options.uid = volume->header().uid;
    api::Awaitable<api::Client::Written> deleting = context_.client.Delete(kVolumes, key, std::move(options));
    const api::Client::Written deleted = co_await std::move(deleting);
    if (!deleted && !deleted.status().Is(api::reason::kNotFound)) co_return deleted.status();
    context_.why.Record({.time = context_.env.clock.Now(),
                         .revision = volumes_.Revision(),
                         .controller = "terrarium-volume-driver",
                         .action = "delete",
                         .resource = kVolumes,
                         .object = key,
                         .owner_resource = "persistentvolumeclaims",
                         .owner = volume->claim ? volume->claim->name : ObjectName(),
                         .rule = "released, with the reclaim policy Delete",
                         .saw = nullptr});
    // The finalizer is removed from the version that has the deletionTimestamp.
    co_return Reconciled::Done();
  }
  if (!HasDriverFinalizer(*volume->object)) co_return Reconciled::Done();
  api::Task<ReconcileResult> removing = RemoveFinalizer(volume->object);
  ReconcileResult result = co_await std::move(removing);
  co_return result;
}

api::Task<ReconcileResult> Deleter::RemoveFinalizer(ObjectPtr volume) {
  Json document = volume->Parse();
  Json left = Json::array();
  for (const Json& finalizer : api::ListAt(document, "metadata", "finalizers"))
    if (finalizer != kDriverFinalizer) left.push_back(finalizer);
  document["metadata"]["finalizers"] = std::move(left);
  api::Awaitable<api::Client::Written> updating = context_.client.Update(kVolumes, std::move(document));
  const api::Client::Written written = co_await std::move(updating);
  if (!written && !written.status().Is(api::reason::kNotFound)) co_return written.status();
  co_return Reconciled::Done();
}

}  // namespace terrarium::controllers::volume_driver
