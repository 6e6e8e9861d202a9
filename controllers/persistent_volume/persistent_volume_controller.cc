#include "controllers/persistent_volume/persistent_volume_controller.h"

#include <utility>

#include "api/storage_v1/storage_class.h"
#include "controllers/persistent_volume/internal/persistent_volume_controller.h"
#include "controllers/runtime/pod_claims.h"

namespace terrarium::controllers::persistent_volume {
namespace {

using api::Json;

constexpr const char* kName = "persistentvolume-binder-controller";
constexpr const char* kEventSource = "persistentvolume-controller";

LoopOptions OneWorker(const char* name) {
  return {.name = name, .workers = 1, .retry = {}, .retries_max = 0};
}

}  // namespace

PersistentVolumeController::PersistentVolumeController(const ControllerContext& context)
    : context_(context),
      claims_(context.informers.For("persistentvolumeclaims")),
      volumes_(context.informers.For("persistentvolumes")),
      classes_(context.informers.For("storageclasses")),
      pods_(context.informers.For("pods")),
      metrics_(context.metrics),
      cache_([this](const VolumePtr& old, const VolumePtr& now) { VolumeChanged(old, now); },
             [this](const ClaimPtr& old, const ClaimPtr& now) { metrics_.ClaimChanged(old, now); }),
      claim_resyncs_(context.env, [this](const ObjectName& name) { claim_loop_.queue().Add(name); }),
      volume_resyncs_(context.env, [this](const ObjectName& name) { volume_loop_.queue().Add(name); }),
      volume_loop_(context.env, context.metrics, OneWorker("volumes"),
                   [this](ObjectName name) { return SyncVolume(std::move(name)); }),
      claim_loop_(context.env, context.metrics, OneWorker("claims"),
                  [this](ObjectName name) { return SyncClaim(std::move(name)); }) {}

void PersistentVolumeController::Start() {
  volume_loop_.Start();
  claim_loop_.Start();
}

void PersistentVolumeController::Watch() {
  AddPodClaimIndex(pods_);
  WatchClaims();
  WatchVolumes();
  std::weak_ptr<PersistentVolumeController> weak = weak_from_this();
  EventHandler classes;
  classes.added = [weak](const ObjectPtr& storage_class) {
    if (auto self = weak.lock()) self->ClassSeen(storage_class);
  };
  classes.updated = [weak](const ObjectPtr&, const ObjectPtr& storage_class) {
    if (auto self = weak.lock()) self->ClassSeen(storage_class);
  };
  classes_.AddHandler(std::move(classes));
}

void PersistentVolumeController::WatchClaims() {
  std::weak_ptr<PersistentVolumeController> weak = weak_from_this();
  auto seen = [weak](const ObjectPtr& claim) {
    auto self = weak.lock();
    if (self == nullptr) return;
    self->cache_.PutClaim(claim);
    self->claim_loop_.queue().Add(claim->name());
  };
  claims_.AddHandler({.added = seen,
                      .updated = [seen](const ObjectPtr&, const ObjectPtr& claim) { seen(claim); },
                      .deleted =
                          [weak](const ObjectPtr& claim) {
                            if (auto self = weak.lock()) self->ClaimDeleted(claim);
                          }});
}

void PersistentVolumeController::WatchVolumes() {
  std::weak_ptr<PersistentVolumeController> weak = weak_from_this();
  auto seen = [weak](const ObjectPtr& volume) {
    auto self = weak.lock();
    if (self == nullptr) return;
    self->cache_.PutVolume(volume);
    self->volume_loop_.queue().Add(volume->name());
  };
  volumes_.AddHandler({.added = seen,
                       .updated = [seen](const ObjectPtr&, const ObjectPtr& volume) { seen(volume); },
                       .deleted =
                           [weak](const ObjectPtr& volume) {
                             if (auto self = weak.lock()) self->VolumeDeleted(volume);
                           }});
}

// DIVERGES: a volume that becomes free, or appears under the name that a claim has, wakes the claim
// immediately. In Kubernetes the claim waits for the next resync, up to 15 s.
void PersistentVolumeController::VolumeChanged(const VolumePtr& old, const VolumePtr& now) {
  metrics_.VolumeChanged(old, now);
  if (now == nullptr) return;
  if (old == nullptr || old->claim.has_value() != now->claim.has_value())
    for (const ObjectName& claim : cache_.ClaimsNaming(now->name())) claim_loop_.queue().Add(claim);
  if (now->claim && now->claim->uid.empty()) claim_loop_.queue().Add(now->claim->name);
  WakeClaimFor(*now);
}

void PersistentVolumeController::WakeClaimFor(const api::Volume& volume) {
  const ClaimPtr claim = cache_.WaitingClaimFor(volume, woken_);
  if (claim == nullptr) return;
  const ObjectName name = claim->object->name();
  woken_.insert(name);
  wakers_[name].push_back(volume.name());
  claim_loop_.queue().Add(name);
}

void PersistentVolumeController::EndWake(const ObjectName& name) {
  woken_.erase(name);
  auto wakers = wakers_.extract(name);
  const ClaimPtr claim = cache_.Claim(name);
  const bool waits = claim != nullptr && claim->volume_name.empty();
  if (wakers.empty() || waits) return;
  for (const std::string& waker : wakers.mapped())
    if (const VolumePtr volume = cache_.Volume(waker)) WakeClaimFor(*volume);
}

void PersistentVolumeController::ClaimDeleted(const ObjectPtr& claim) {
  const ObjectName name = claim->name();
  cache_.RemoveClaim(name);
  metrics_.ForgetProvisioning(name);
  claim_resyncs_.Cancel(name);
  EndWake(name);
  for (const std::string& volume : cache_.VolumesFor(name)) volume_loop_.queue().Add({"", volume});
}

void PersistentVolumeController::VolumeDeleted(const ObjectPtr& volume) {
  const ObjectName key = volume->name();
  const VolumePtr known = cache_.Volume(key.name);
  cache_.RemoveVolume(key.name);
  metrics_.DeletionDone(key, Now());
  volume_resyncs_.Cancel(key);
  if (known != nullptr && known->claim) claim_loop_.queue().Add(known->claim->name);
}

void PersistentVolumeController::ClassSeen(const ObjectPtr& storage_class) {
  for (const ObjectName& claim : cache_.WaitingClaims(storage_class->name().name))
    claim_loop_.queue().Add(claim);
  if (!api::IsDefaultClass(*storage_class->Document())) return;
  for (const ObjectName& claim : cache_.WaitingClaims(std::nullopt)) claim_loop_.queue().Add(claim);
}

void PersistentVolumeController::ClaimEvent(const api::Object& claim, std::string_view type,
                                            std::string_view reason, std::string message) {
  context_.recorder.Record({.component = kEventSource}, ReferenceTo(claim, "v1", "PersistentVolumeClaim"),
                           type, reason, std::move(message));
}

void PersistentVolumeController::VolumeEvent(const api::Object& volume, std::string_view type,
                                             std::string_view reason, std::string message) {
  context_.recorder.Record({.component = kEventSource}, ReferenceTo(volume, "v1", "PersistentVolume"), type,
                           reason, std::move(message));
}

void PersistentVolumeController::Explain(std::string_view action, const api::Volume& volume,
                                         const ObjectName& claim, std::string rule, Json saw) {
  context_.why.Record({.time = Now(),
                       .revision = volumes_.Revision(),
                       .controller = kName,
                       .action = std::string(action),
                       .resource = "persistentvolumes",
                       .object = volume.object->name(),
                       .owner_resource = "persistentvolumeclaims",
                       .owner = claim,
                       .rule = std::move(rule),
                       .saw = std::make_shared<const Json>(std::move(saw))});
}

}  // namespace terrarium::controllers::persistent_volume

namespace terrarium::controllers {

std::unique_ptr<Controller> MakePersistentVolumeController(const ControllerContext& context) {
  return std::make_unique<SharedController<persistent_volume::PersistentVolumeController>>(context);
}

}  // namespace terrarium::controllers
