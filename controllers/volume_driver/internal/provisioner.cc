#include "controllers/volume_driver/internal/provisioner.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "api/storage_v1/storage_class.h"
#include "controllers/volume_driver/internal/new_volume.h"

namespace terrarium::controllers::volume_driver {
namespace {

using api::Json;

constexpr const char* kClaims = "persistentvolumeclaims";
constexpr const char* kVolumes = "persistentvolumes";
constexpr const char* kIndex = "claims that wait for a provisioner, by class";

std::string_view ProvisionerIn(const Json& claim) {
  return api::StringAt(claim, "metadata", "annotations", api::kStorageProvisioner);
}

// The binder has asked for a volume.
bool WaitsForProvisioner(const Json& claim) {
  return api::StringAt(claim, "spec", "volumeName").empty() && !ProvisionerIn(claim).empty();
}

}  // namespace

Provisioner::Provisioner(const ControllerContext& context)
    : context_(context),
      claims_(context.informers.For(kClaims)),
      classes_(context.informers.For("storageclasses")),
      nodes_(context.informers.For("nodes")),
      pace_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      loop_(context.env, context.metrics,
            LoopOptions{.name = "volume_driver_provision", .workers = 10, .retry = {}, .retries_max = 0},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void Provisioner::Watch() {
  claims_.AddIndex(kIndex, [](const api::Object& claim) -> std::vector<std::string> {
    const auto document = claim.Document();
    if (!WaitsForProvisioner(*document)) return {};
    return {api::ClassOfClaim(*document).value_or("")};
  });
  std::weak_ptr<Provisioner> weak = weak_from_this();
  auto seen = [weak](const ObjectPtr& claim) {
    auto self = weak.lock();
    if (self == nullptr) return;
    if (WaitsForProvisioner(*claim->Document()))
      self->loop_.queue().Add(claim->name());
    else
      self->pace_.Forget(claim->name());
  };
  claims_.AddHandler({.added = seen,
                      .updated = [seen](const ObjectPtr&, const ObjectPtr& claim) { seen(claim); },
                      .deleted =
                          [weak](const ObjectPtr& claim) {
                            if (auto self = weak.lock()) self->pace_.Forget(claim->name());
                          }});
  EventHandler classes;
  classes.added = [weak](const ObjectPtr& storage_class) {
    if (auto self = weak.lock()) self->ClassAdded(storage_class);
  };
  classes_.AddHandler(std::move(classes));
}

// A class cannot change: a user who wants another provisioning replaces it.
void Provisioner::ClassAdded(const ObjectPtr& storage_class) {
  for (const ObjectPtr& claim : claims_.ByIndex(kIndex, storage_class->name().name)) {
    pace_.Forget(claim->name());
    loop_.queue().Add(claim->name());
  }
}

api::Task<ReconcileResult> Provisioner::Sync(ObjectName name) {
  const ObjectPtr object = claims_.Get(name);
  if (object == nullptr || !WaitsForProvisioner(*object->Document())) co_return Reconciled::Done();
  const api::VolumeClaim claim = api::ReadVolumeClaim(object);
  const ObjectPtr class_object = classes_.Get({"", claim.class_name});
  if (class_object == nullptr) co_return Reconciled::Done();
  // The informer may not have shown a volume that was just created.
  if (context_.client.Get(kVolumes, {"", VolumeNameFor(claim)})) co_return Reconciled::Done();
  const auto storage_class = class_object->Document();
  const api::VolumeScript script = api::ReadVolumeScript(*storage_class);
  const bool delayed = api::WaitsForFirstConsumer(*storage_class);
  if (!script.provision || (delayed && claim.selected_node.value_or("").empty()))
    co_return Reconciled::Done();

  const OperationPace::Turn turn = pace_.Next(*object, script.provisioning);
  if (turn == OperationPace::Turn::kFirst)
    RecordEvent(claim, kNormal, "Provisioning",
                "External provisioner is provisioning volume for claim \"" + name.String() + "\"");
  if (turn == OperationPace::Turn::kLater ||
      (turn == OperationPace::Turn::kFirst && script.provisioning.delay > api::Duration::zero()))
    co_return Reconciled::Done();

  const ObjectPtr node = claim.selected_node ? nodes_.Get({"", *claim.selected_node}) : nullptr;
  if (claim.selected_node && node == nullptr) {
    RecordEvent(claim, kWarning, "ProvisioningFailed",
                "failed to get target node: node \"" + *claim.selected_node + "\" not found");
    api::Task<ReconcileResult> rescheduling = Reschedule(object);
    ReconcileResult result = co_await std::move(rescheduling);
    co_return result;
  }
  api::Result<Json> volume = MakeVolume(claim, *storage_class, script, node);
  if (!volume) {
    RecordEvent(claim, kWarning, "ProvisioningFailed",
                "failed to provision volume with StorageClass \"" + claim.class_name +
                    "\": " + volume.status().message);
    pace_.Failed(name, script.provisioning);
    co_return Reconciled::Done();
  }
  api::Awaitable<api::Client::Written> creating = context_.client.Create(kVolumes, "", std::move(*volume));
  const api::Client::Written created = co_await std::move(creating);
  if (!created && !created.status().Is(api::reason::kAlreadyExists)) co_return created.status();
  pace_.Forget(name);
  RecordEvent(claim, kNormal, "ProvisioningSucceeded",
              "Successfully provisioned volume " + VolumeNameFor(claim));
  Explain(claim);
  co_return Reconciled::Done();
}

// The new volume, or why there can be none. `node`: the selected one, or nullptr.
api::Result<Json> Provisioner::MakeVolume(const api::VolumeClaim& claim, const Json& storage_class,
                                          const api::VolumeScript& script, const ObjectPtr& node) const {
  if (claim.selector) return api::GenericServerError("claim Selector is not supported");
  if (script.provisioning.Fails(pace_.Failures(claim.object->name())))
    return api::GenericServerError(script.provisioning.error);
  const bool any_node = node == nullptr && !script.topology.empty();
  api::Result<std::optional<Json>> topology =
      TopologyOf(storage_class, claim, node == nullptr ? nullptr : &node->header(),
                 any_node ? nodes_.List() : std::vector<ObjectPtr>());
  if (!topology) return topology.status();
  return NewVolume(claim, storage_class, std::move(*topology));
}

// The scheduler has to choose another node.
api::Task<ReconcileResult> Provisioner::Reschedule(ObjectPtr claim) {
  pace_.Forget(claim->name());
  Json document = claim->Parse();
  document["metadata"]["annotations"].erase(std::string(api::kSelectedNode));
  api::Awaitable<api::Client::Written> updating = context_.client.Update(kClaims, std::move(document));
  const api::Client::Written written = co_await std::move(updating);
  if (!written && !written.status().Is(api::reason::kNotFound)) co_return written.status();
  co_return Reconciled::Done();
}

void Provisioner::Explain(const api::VolumeClaim& claim) {
  Json saw = {{"storageClass", claim.class_name}, {"request", claim.request.ToString()}};
  if (claim.selected_node) saw["selectedNode"] = *claim.selected_node;
  context_.why.Record({.time = context_.env.clock.Now(),
                       .revision = claims_.Revision(),
                       .controller = "terrarium-volume-driver",
                       .action = "create",
                       .resource = kVolumes,
                       .object = {"", VolumeNameFor(claim)},
                       .owner_resource = kClaims,
                       .owner = claim.object->name(),
                       .rule = "the binder has asked for a volume",
                       .saw = std::make_shared<const Json>(std::move(saw))});
}

void Provisioner::RecordEvent(const api::VolumeClaim& claim, std::string_view type, std::string_view reason,
                              std::string message) {
  const auto document = claim.object->Document();
  context_.recorder.Record({.component = std::string(ProvisionerIn(*document))},
                           ReferenceTo(*claim.object, "v1", "PersistentVolumeClaim"), type, reason,
                           std::move(message));
}

}  // namespace terrarium::controllers::volume_driver
