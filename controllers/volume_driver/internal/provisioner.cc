#include "controllers/volume_driver/internal/provisioner.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/json_access.h"
#include "api/storage_v1/storage_class.h"
#include "controllers/volume_driver/internal/new_volume.h"

namespace terrarium::controllers::volume_driver {
namespace {

using api::Json;

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
      claims_(context.informers.For("persistentvolumeclaims")),
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
  const std::string volume_name = VolumeNameFor(claim);
  if (context_.client.Get(kVolumes, {"", volume_name})) co_return Reconciled::Done();
  const auto storage_class = class_object->Document();
  const api::VolumeScript script = api::ReadVolumeScript(*storage_class);
  if (!script.provision) co_return Reconciled::Done();
  if (api::WaitsForFirstConsumer(*storage_class) && claim.selected_node.value_or("").empty())
    co_return Reconciled::Done();

  const OperationPace::Turn turn = pace_.Next(*object, script.provisioning);
  if (turn == OperationPace::Turn::kFirst)
    RecordEvent(claim, kNormal, "Provisioning",
                "External provisioner is provisioning volume for claim \"" + name.String() + "\"");
  if (turn == OperationPace::Turn::kLater ||
      (turn == OperationPace::Turn::kFirst && script.provisioning.delay > api::Duration::zero()))
    co_return Reconciled::Done();

  const std::string prefix = "failed to provision volume with StorageClass \"" + claim.class_name + "\": ";
  ObjectPtr node;
  if (claim.selected_node) {
    node = nodes_.Get({"", *claim.selected_node});
    if (node == nullptr) {
      Fail(claim, "failed to get target node: node \"" + *claim.selected_node + "\" not found",
           script.provisioning);
      co_return Reconciled::Done();
    }
  }
  if (claim.selector) {
    Fail(claim, prefix + "claim Selector is not supported", {});
    co_return Reconciled::Done();
  }
  if (script.provisioning.Fails(pace_.Failures(name))) {
    Fail(claim, prefix + script.provisioning.error, script.provisioning);
    co_return Reconciled::Done();
  }
  const bool any_node = node == nullptr && !script.topology.empty();
  api::Result<std::optional<Json>> topology =
      TopologyOf(*storage_class, claim, node == nullptr ? nullptr : &node->header(),
                 any_node ? nodes_.List() : std::vector<ObjectPtr>());
  if (!topology) {
    Fail(claim, prefix + topology.status().message, {});
    co_return Reconciled::Done();
  }
  Json volume = NewVolume(claim, *storage_class, std::move(*topology));
  api::Awaitable<api::Client::Written> creating = context_.client.Create(kVolumes, "", std::move(volume));
  const api::Client::Written created = co_await std::move(creating);
  if (!created && !created.status().Is(api::reason::kAlreadyExists)) co_return created.status();
  pace_.Forget(name);
  RecordEvent(claim, kNormal, "ProvisioningSucceeded", "Successfully provisioned volume " + volume_name);
  Json saw = {{"storageClass", claim.class_name}, {"request", claim.request.ToString()}};
  if (claim.selected_node) saw["selectedNode"] = *claim.selected_node;
  context_.why.Record({.time = context_.env.clock.Now(),
                       .revision = claims_.Revision(),
                       .controller = "terrarium-volume-driver",
                       .action = "create",
                       .resource = kVolumes,
                       .object = {"", volume_name},
                       .owner_resource = "persistentvolumeclaims",
                       .owner = name,
                       .rule = "the binder has asked for a volume",
                       .saw = std::make_shared<const Json>(std::move(saw))});
  co_return Reconciled::Done();
}

void Provisioner::Fail(const api::VolumeClaim& claim, std::string message,
                       const api::VolumeOperation& operation) {
  RecordEvent(claim, kWarning, "ProvisioningFailed", std::move(message));
  pace_.Failed(claim.object->name(), operation);
}

void Provisioner::RecordEvent(const api::VolumeClaim& claim, std::string_view type, std::string_view reason,
                              std::string message) {
  const auto document = claim.object->Document();
  context_.recorder.Record({.component = std::string(ProvisionerIn(*document))},
                           ReferenceTo(*claim.object, "v1", "PersistentVolumeClaim"), type, reason,
                           std::move(message));
}

}  // namespace terrarium::controllers::volume_driver
