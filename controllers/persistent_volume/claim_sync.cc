// One sync of a claim. Mirrors syncClaim of pkg/controller/volume/persistentvolume/pv_controller.go, v1.36.

#include <utility>
#include <vector>

#include "api/json_access.h"
#include "api/storage_v1/storage_class.h"
#include "controllers/persistent_volume/internal/claim_status.h"
#include "controllers/persistent_volume/internal/persistent_volume_controller.h"
#include "controllers/persistent_volume/internal/volume_plugin.h"

namespace terrarium::controllers::persistent_volume {
namespace {

using api::Json;
using api::Task;

std::string Quoted(const api::Volume& volume) { return "\"" + volume.name() + "\""; }

std::string Joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

}  // namespace

Task<ReconcileResult> PersistentVolumeController::SyncClaim(ObjectName name) {
  claim_resyncs_.Cancel(name);
  const ClaimPtr claim = cache_.Claim(name);
  if (claim == nullptr) co_return Reconciled::Done();
  Task<Failure> syncing = claim->bind_completed        ? SyncBound(claim)
                          : claim->volume_name.empty() ? SyncUnbound(claim)
                                                       : SyncNamingVolume(claim);
  Failure failure = co_await std::move(syncing);
  EndWake(name);
  const ClaimPtr now = cache_.Claim(name);
  if (now != nullptr && !now->bind_completed) claim_resyncs_.Set(name, kResync, api::TimerKind::kBackground);
  if (failure) co_return std::move(*failure);
  co_return Reconciled::Done();
}

// A claim that takes any volume that fits.
Task<PersistentVolumeController::Failure> PersistentVolumeController::SyncUnbound(ClaimPtr claim) {
  const ObjectPtr storage_class = claim->class_name.empty() ? nullptr : classes_.Get({"", claim->class_name});
  const bool delayed = storage_class != nullptr && api::WaitsForFirstConsumer(*storage_class->Document());
  const VolumePtr volume =
      cache_.BestMatch(*claim, delayed ? BindingCache::Free::kExcluded : BindingCache::Free::kIncluded);
  if (volume == nullptr) {
    Task<Failure> waiting = SyncWithoutVolume(claim, storage_class);
    Failure failure = co_await std::move(waiting);
    co_return failure;
  }
  std::string rule =
      volume->claim ? "the volume is reserved for the claim" : "the smallest free volume that fits";
  Task<Failure> binding = Bind(volume, claim, std::move(rule));
  Failure failure = co_await std::move(binding);
  if (failure)
    metrics_.ProvisioningFailed(claim->object->name());
  else
    metrics_.ProvisioningDone(claim->object->name(), Now());
  co_return failure;
}

Task<PersistentVolumeController::Failure> PersistentVolumeController::SyncWithoutVolume(
    ClaimPtr claim, ObjectPtr storage_class) {
  if (!claim->has_class) {
    if (const ObjectPtr fallback = api::DefaultClass(classes_.List())) {
      Task<Failure> assigning = AssignClass(claim, fallback->name().name);
      Failure failure = co_await std::move(assigning);
      co_return failure;
    }
  }
  const bool delayed = storage_class != nullptr && api::WaitsForFirstConsumer(*storage_class->Document());
  if (delayed && !claim->selected_node) {
    ReportWaiting(*claim);
  } else if (!claim->class_name.empty()) {
    Task<Failure> provisioning = Provision(claim, storage_class);
    Failure failure = co_await std::move(provisioning);
    co_return failure;
  } else {
    ClaimEvent(*claim->object, kNormal, "FailedBinding",
               "no persistent volumes available for this claim and no storage class is set");
  }
  Outcome<ClaimPtr> writing = SetStatus(claim, "Pending", nullptr);
  const api::Result<ClaimPtr> written = co_await std::move(writing);
  co_return written ? Failure() : Failure(written.status());
}

void PersistentVolumeController::ReportWaiting(const api::VolumeClaim& claim) {
  const std::vector<std::string> pods = PodsUsing(claim.object->name(), true);
  if (pods.empty())
    return ClaimEvent(*claim.object, kNormal, "WaitForFirstConsumer",
                      "waiting for first consumer to be created before binding");
  ClaimEvent(
      *claim.object, kNormal, "WaitForPodScheduled",
      std::string("waiting for pod") + (pods.size() > 1 ? "s " : " ") + Joined(pods) + " to be scheduled");
}

// Retroactively: when the claim was created there was no default class.
Task<PersistentVolumeController::Failure> PersistentVolumeController::AssignClass(ClaimPtr claim,
                                                                                  std::string class_name) {
  Json document = claim->object->Parse();
  document["spec"]["storageClassName"] = class_name;
  Outcome<ClaimPtr> writing = WriteClaim(std::move(document), "");
  const api::Result<ClaimPtr> written = co_await std::move(writing);
  metrics_.ClassAssigned(written.ok());
  co_return written ? Failure() : Failure(written.status());
}

// Names the provisioner in the claim, by which that one knows that it is to act.
Task<PersistentVolumeController::Failure> PersistentVolumeController::Provision(ClaimPtr claim,
                                                                                ObjectPtr storage_class) {
  if (storage_class == nullptr) {
    ClaimEvent(*claim->object, kWarning, "ProvisioningFailed",
               "storageclass.storage.k8s.io \"" + claim->class_name + "\" not found");
    co_return std::nullopt;
  }
  const Provisioner provisioner = ProvisionerOf(*storage_class->Document());
  if (!provisioner.error.empty()) {
    ClaimEvent(*claim->object, kWarning, "ProvisioningFailed", provisioner.error);
    co_return std::nullopt;
  }
  metrics_.ProvisioningStarted(claim->object->name(), provisioner.name, Now());
  Json document = claim->object->Parse();
  if (api::StringAt(document, "metadata", "annotations", api::kStorageProvisioner) != provisioner.name) {
    Json& annotations = document["metadata"]["annotations"];
    annotations[std::string(api::kBetaStorageProvisioner)] = provisioner.name;
    annotations[std::string(api::kStorageProvisioner)] = provisioner.name;
    Outcome<ClaimPtr> writing = WriteClaim(std::move(document), "");
    const api::Result<ClaimPtr> written = co_await std::move(writing);
    if (!written) {
      metrics_.ProvisioningFailed(claim->object->name());
      ClaimEvent(*claim->object, kWarning, "ProvisioningFailed",
                 "Error saving claim: " + written.status().message);
      co_return written.status();
    }
  }
  ClaimEvent(
      *claim->object, kNormal, "ExternalProvisioning",
      "Waiting for a volume to be created either by the external provisioner '" + provisioner.name +
          "' or manually by the system administrator. If volume creation is delayed, please verify that "
          "the provisioner is running and correctly registered.");
  co_return std::nullopt;
}

// A claim whose user has chosen its volume.
Task<PersistentVolumeController::Failure> PersistentVolumeController::SyncNamingVolume(ClaimPtr claim) {
  const VolumePtr volume = cache_.Volume(claim->volume_name);
  std::string mismatch;
  if (volume != nullptr) {
    const bool reserved = api::IsVolumeFor(*volume, *claim);
    if (!volume->claim) mismatch = api::WhyMismatched(*volume, *claim);
    if (reserved || (!volume->claim && mismatch.empty())) {
      Task<Failure> binding = Bind(volume, claim, "the claim names the volume");
      Failure failure = co_await std::move(binding);
      co_return failure;
    }
    if (!volume->claim) {
      ClaimEvent(*claim->object, kWarning, "VolumeMismatch",
                 "Cannot bind to requested volume " + Quoted(*volume) + ": " + mismatch);
    } else {
      ClaimEvent(*claim->object, kWarning, "FailedBinding",
                 "volume " + Quoted(*volume) + " already bound to a different claim.");
      // DIVERGES: Kubernetes retries a claim that it has bound itself, which only an edit of its annotations
      // can bring about, with backoff; here it waits for the resync as well.
      if (claim->bound_by_controller) co_return std::nullopt;
    }
  }
  Outcome<ClaimPtr> writing = SetStatus(claim, "Pending", nullptr);
  const api::Result<ClaimPtr> written = co_await std::move(writing);
  co_return written ? Failure() : Failure(written.status());
}

Task<PersistentVolumeController::Failure> PersistentVolumeController::SyncBound(ClaimPtr claim) {
  Failure failure;
  if (claim->volume_name.empty()) {
    Task<Failure> losing =
        Lose(claim, "ClaimLost",
             "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
    failure = co_await std::move(losing);
    co_return failure;
  }
  const VolumePtr volume = cache_.Volume(claim->volume_name);
  if (volume == nullptr) {
    Task<Failure> losing =
        Lose(claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    failure = co_await std::move(losing);
  } else if (!volume->claim || volume->claim->uid == claim->header().uid) {
    Task<Failure> binding = Bind(volume, claim, "the claim is bound to the volume");
    failure = co_await std::move(binding);
  } else {
    Task<Failure> losing = Lose(claim, "ClaimMisbound",
                                "Two claims are bound to the same volume, this one is bound incorrectly");
    failure = co_await std::move(losing);
  }
  co_return failure;
}

Task<PersistentVolumeController::Failure> PersistentVolumeController::Lose(ClaimPtr claim,
                                                                           std::string_view reason,
                                                                           std::string message) {
  if (claim->header().phase.text() == "Lost") co_return std::nullopt;
  Outcome<ClaimPtr> writing = SetStatus(claim, "Lost", nullptr);
  const api::Result<ClaimPtr> written = co_await std::move(writing);
  if (!written) co_return written.status();
  ClaimEvent(*claim->object, kWarning, reason, std::move(message));
  co_return std::nullopt;
}

}  // namespace terrarium::controllers::persistent_volume
