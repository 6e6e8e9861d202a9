// One sync of a volume. Mirrors syncVolume of pkg/controller/volume/persistentvolume/pv_controller.go, v1.36.

#include <algorithm>
#include <utility>
#include <vector>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "controllers/persistent_volume/internal/persistent_volume_controller.h"
#include "controllers/persistent_volume/internal/volume_plugin.h"
#include "controllers/runtime/pod_claims.h"

namespace terrarium::controllers::persistent_volume {
namespace {

using api::Json;
using api::Task;

bool IsReleasedOrFailed(const api::Volume& volume) {
  const std::string& phase = volume.header().phase.text();
  return phase == "Released" || phase == "Failed";
}

// The reclaiming of such a volume is tried again.
bool WaitsForReclaim(const api::Volume& volume) {
  return volume.header().phase.text() == "Failed" ||
         (volume.header().phase.text() == "Released" && volume.reclaim_policy == "Recycle");
}

}  // namespace

Task<ReconcileResult> PersistentVolumeController::SyncVolume(ObjectName key) {
  volume_resyncs_.Cancel(key);
  const VolumePtr volume = cache_.Volume(key.name);
  if (volume == nullptr) co_return Reconciled::Done();
  Failure failure;
  if (!volume->claim || volume->claim->uid.empty()) {
    Outcome<VolumePtr> setting_phase = SetPhase(volume, "Available");
    const api::Result<VolumePtr> written = co_await std::move(setting_phase);
    if (!written) failure = written.status();
  } else {
    Task<Failure> syncing = SyncClaimed(volume);
    failure = co_await std::move(syncing);
  }
  const VolumePtr now = cache_.Volume(key.name);
  if (now != nullptr && WaitsForReclaim(*now)) volume_resyncs_.Set(key, kResync, api::TimerKind::kBackground);
  if (failure) co_return std::move(*failure);
  co_return Reconciled::Done();
}

// A volume that is bound to a claim.
Task<PersistentVolumeController::Failure> PersistentVolumeController::SyncClaimed(VolumePtr volume) {
  const api::Result<ClaimPtr> found = ClaimOf(*volume);
  if (!found) co_return found.status();
  const ClaimPtr claim = *found;
  Failure failure;
  if (claim == nullptr) {
    Task<Failure> releasing = Release(volume);
    failure = co_await std::move(releasing);
  } else if (claim->volume_name.empty()) {
    if (claim->block != volume->block) {
      VolumeEvent(*volume->object, kWarning, "VolumeMismatch",
                  "Cannot bind PersistentVolume to requested PersistentVolumeClaim \"" +
                      claim->header().name + "\" due to incompatible volumeMode.");
      ClaimEvent(*claim->object, kWarning, "VolumeMismatch",
                 "Cannot bind PersistentVolume \"" + volume->name() +
                     "\" to requested PersistentVolumeClaim due to incompatible volumeMode.");
    } else {
      claim_loop_.queue().Add(claim->object->name());
    }
  } else if (claim->volume_name == volume->name()) {
    Outcome<VolumePtr> setting_phase = SetPhase(volume, "Bound");
    const api::Result<VolumePtr> written = co_await std::move(setting_phase);
    if (!written) failure = written.status();
  } else if (!volume->provisioned_by.empty() && volume->reclaim_policy == "Delete") {
    // It was provisioned for this claim, which has got another volume.
    Task<Failure> releasing = Release(volume);
    failure = co_await std::move(releasing);
  } else {
    Task<Failure> unbinding = Unbind(volume);
    failure = co_await std::move(unbinding);
  }
  co_return failure;
}

api::Result<ClaimPtr> PersistentVolumeController::ClaimOf(const api::Volume& volume) {
  const api::ClaimReference& ref = *volume.claim;
  ClaimPtr claim = cache_.Claim(ref.name);
  if (claim != nullptr && claim->header().uid == ref.uid) return claim;
  // The view of the claims may be older than that of the volumes, and a volume that is reclaimed wrongly is
  // lost.
  if (claim == nullptr && IsReleasedOrFailed(volume)) return ClaimPtr();
  api::Result<ObjectPtr> fresh = context_.client.Get("persistentvolumeclaims", ref.name);
  if (!fresh) {
    if (fresh.status().Is(api::reason::kNotFound)) return ClaimPtr();
    return fresh.status();
  }
  if ((*fresh)->header().uid != ref.uid) return ClaimPtr();
  return ClaimPtr(std::make_shared<const api::VolumeClaim>(api::ReadVolumeClaim(*fresh)));
}

// The claim is gone, or bound elsewhere.
Task<PersistentVolumeController::Failure> PersistentVolumeController::Release(VolumePtr volume) {
  if (!IsReleasedOrFailed(*volume)) {
    Explain("release", *volume, volume->claim->name, "the claim is gone or bound to another volume",
            {{"persistentVolumeReclaimPolicy", volume->reclaim_policy}, {"claimUid", volume->claim->uid}});
    Outcome<VolumePtr> setting_phase = SetPhase(volume, "Released");
    const api::Result<VolumePtr> written = co_await std::move(setting_phase);
    if (!written) co_return written.status();
    volume = *written;
  }
  Failure failure;
  if (volume->reclaim_policy == "Recycle") {
    Task<Failure> recycling = Recycle(volume);
    failure = co_await std::move(recycling);
  } else if (volume->reclaim_policy == "Delete") {
    Task<Failure> deleting = Delete(volume);
    failure = co_await std::move(deleting);
  }
  co_return failure;
}

// DIVERGES: Kubernetes runs a pod that empties the volume; no volume here has content.
Task<PersistentVolumeController::Failure> PersistentVolumeController::Recycle(VolumePtr volume) {
  Failure failure;
  const std::vector<std::string> pods = PodsUsing(volume->claim->name, false);
  if (!pods.empty() && cache_.Claim(volume->claim->name) == nullptr) {
    std::string message = "Volume is used by pods: ";
    for (const std::string& pod : pods) message += (&pod == &pods.front() ? "" : ",") + pod;
    VolumeEvent(*volume->object, kNormal, "VolumeFailedRecycle", std::move(message));
  } else if (!IsRecyclable(*volume->object->Document())) {
    Task<Failure> failing = Fail(volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!");
    failure = co_await std::move(failing);
  } else {
    VolumeEvent(*volume->object, kNormal, "VolumeRecycled", "Volume recycled");
    Task<Failure> unbinding = Unbind(volume);
    failure = co_await std::move(unbinding);
  }
  co_return failure;
}

Task<PersistentVolumeController::Failure> PersistentVolumeController::Delete(VolumePtr volume) {
  const Deletion deletion = DeletionOf(*volume);
  const ObjectName key = volume->object->name();
  std::string plugin = deletion.plugin;
  if (deletion.external) {
    const ObjectPtr storage_class = classes_.Get({"", volume->class_name});
    plugin = storage_class == nullptr ? "N/A" : ProvisionerOf(*storage_class->Document()).name;
  }
  metrics_.DeletionStarted(key, plugin.empty() ? "N/A" : std::move(plugin), Now());
  if (deletion.external || volume->header().deleting) co_return std::nullopt;
  if (!deletion.error.empty()) {
    metrics_.DeletionFailed(key);
    Task<Failure> failing = Fail(volume, "VolumeFailedDelete", deletion.error);
    Failure failure = co_await std::move(failing);
    co_return failure;
  }
  Explain("delete", *volume, volume->claim->name, "released, with the reclaim policy Delete",
          {{"plugin", deletion.plugin}});
  api::DeleteRequest options;
  options.uid = volume->header().uid;
  api::Awaitable<api::Client::Written> deleting =
      context_.client.Delete("persistentvolumes", key, std::move(options));
  const api::Client::Written deleted = co_await std::move(deleting);
  if (deleted || deleted.status().Is(api::reason::kNotFound)) co_return std::nullopt;
  co_return deleted.status();
}

std::vector<std::string> PersistentVolumeController::PodsUsing(const ObjectName& claim,
                                                               bool unscheduled_only) const {
  std::vector<std::string> names;
  for (const ObjectPtr& pod : PodsWithClaim(pods_, claim)) {
    if (IsShutDown(*pod)) continue;
    if (!unscheduled_only)
      names.push_back(pod->name().String());
    else if (api::PodNodeName(*pod).empty())
      names.push_back(pod->header().name);
  }
  return names;
}

}  // namespace terrarium::controllers::persistent_volume
