// The binder's writes. Each goes to the cache when it was acknowledged, so that the next sync acts on it even
// if no informer has shown it yet.

#include <utility>

#include "api/json_access.h"
#include "controllers/persistent_volume/internal/claim_status.h"
#include "controllers/persistent_volume/internal/persistent_volume_controller.h"

namespace terrarium::controllers::persistent_volume {
namespace {

using api::Json;
using api::Task;

// Whether the informer has shown the deletion of what was just written.
bool IsGone(const Informer& informer, const api::Object& written) {
  return informer.Revision() >= written.revision() && informer.Get(written.name()) == nullptr;
}

}  // namespace

PersistentVolumeController::Outcome<VolumePtr> PersistentVolumeController::WriteVolume(
    Json volume, std::string_view subresource) {
  api::Awaitable<api::Client::Written> updating =
      context_.client.Update("persistentvolumes", std::move(volume), subresource);
  const api::Client::Written written = co_await std::move(updating);
  if (!written) co_return written.status();
  if (!IsGone(volumes_, **written)) cache_.PutVolume(*written);
  co_return VolumePtr(std::make_shared<const api::Volume>(api::ReadVolume(*written)));
}

PersistentVolumeController::Outcome<ClaimPtr> PersistentVolumeController::WriteClaim(
    Json claim, std::string_view subresource) {
  api::Awaitable<api::Client::Written> updating =
      context_.client.Update("persistentvolumeclaims", std::move(claim), subresource);
  const api::Client::Written written = co_await std::move(updating);
  if (!written) co_return written.status();
  if (!IsGone(claims_, **written)) cache_.PutClaim(*written);
  co_return ClaimPtr(std::make_shared<const api::VolumeClaim>(api::ReadVolumeClaim(*written)));
}

PersistentVolumeController::Outcome<VolumePtr> PersistentVolumeController::SetPhase(VolumePtr volume,
                                                                                    std::string phase) {
  if (volume->header().phase.text() == phase) co_return volume;
  Json document = volume->object->Parse();
  document["status"]["phase"] = std::move(phase);
  document["status"].erase("message");
  Outcome<VolumePtr> writing = WriteVolume(std::move(document), "status");
  api::Result<VolumePtr> written = co_await std::move(writing);
  co_return written;
}

Task<PersistentVolumeController::Failure> PersistentVolumeController::Fail(VolumePtr volume,
                                                                           std::string_view reason,
                                                                           std::string message) {
  if (volume->header().phase.text() == "Failed") co_return std::nullopt;
  Json document = volume->object->Parse();
  document["status"]["phase"] = "Failed";
  document["status"]["message"] = message;
  Outcome<VolumePtr> writing = WriteVolume(std::move(document), "status");
  const api::Result<VolumePtr> written = co_await std::move(writing);
  if (!written) co_return written.status();
  VolumeEvent(*volume->object, kWarning, reason, std::move(message));
  co_return std::nullopt;
}

PersistentVolumeController::Outcome<ClaimPtr> PersistentVolumeController::SetStatus(ClaimPtr claim,
                                                                                    std::string phase,
                                                                                    VolumePtr volume) {
  Json document = claim->object->Parse();
  const std::shared_ptr<const Json> of_volume = volume == nullptr ? nullptr : volume->object->Document();
  std::optional<Json> status = NextClaimStatus(document, phase, of_volume.get());
  if (!status) co_return claim;
  document["status"] = std::move(*status);
  Outcome<ClaimPtr> writing = WriteClaim(std::move(document), "status");
  api::Result<ClaimPtr> written = co_await std::move(writing);
  co_return written;
}

// The volume first: only one claim can win it. A sync after a failure finishes what is left.
Task<PersistentVolumeController::Failure> PersistentVolumeController::Bind(VolumePtr volume, ClaimPtr claim,
                                                                           std::string rule) {
  Json of_volume = volume->object->Parse();
  if (api::BindVolumeToClaim(of_volume, *claim) == api::Binding::kChanged) {
    Json saw = {
        {"volume", {{"capacity", volume->capacity.ToString()}, {"phase", volume->header().phase.text()}}},
        {"claim", {{"request", claim->request.ToString()}, {"storageClassName", claim->class_name}}}};
    Outcome<VolumePtr> writing = WriteVolume(std::move(of_volume), "");
    const api::Result<VolumePtr> written = co_await std::move(writing);
    if (!written) co_return written.status();
    volume = *written;
    Explain("bind", *volume, claim->object->name(), std::move(rule), std::move(saw));
  }
  Outcome<VolumePtr> setting_phase = SetPhase(volume, "Bound");
  const api::Result<VolumePtr> bound = co_await std::move(setting_phase);
  if (!bound) co_return bound.status();
  volume = *bound;

  if (!claim->IsBound() || claim->volume_name != volume->name()) {
    Json of_claim = claim->object->Parse();
    Json& annotations = of_claim["metadata"]["annotations"];
    if (claim->volume_name != volume->name()) {
      of_claim["spec"]["volumeName"] = volume->name();
      if (!claim->bound_by_controller) annotations[std::string(api::kBoundByController)] = "yes";
    }
    if (!claim->bind_completed) annotations[std::string(api::kBindCompleted)] = "yes";
    Outcome<ClaimPtr> writing = WriteClaim(std::move(of_claim), "");
    const api::Result<ClaimPtr> written = co_await std::move(writing);
    if (!written) co_return written.status();
    claim = *written;
  }
  Outcome<ClaimPtr> setting_status = SetStatus(claim, "Bound", volume);
  const api::Result<ClaimPtr> done = co_await std::move(setting_status);
  co_return done ? Failure() : Failure(done.status());
}

// What the controller bound becomes free; what a user reserved stays reserved.
Task<PersistentVolumeController::Failure> PersistentVolumeController::Unbind(VolumePtr volume) {
  Json document = volume->object->Parse();
  if (volume->bound_by_controller) {
    document["spec"].erase("claimRef");
    Json& annotations = document["metadata"]["annotations"];
    annotations.erase(std::string(api::kBoundByController));
    if (annotations.empty()) document["metadata"].erase("annotations");
  } else {
    document["spec"]["claimRef"].erase("uid");
  }
  Outcome<VolumePtr> writing = WriteVolume(std::move(document), "");
  const api::Result<VolumePtr> written = co_await std::move(writing);
  if (!written) co_return written.status();
  Outcome<VolumePtr> setting_phase = SetPhase(*written, "Available");
  const api::Result<VolumePtr> done = co_await std::move(setting_phase);
  co_return done ? Failure() : Failure(done.status());
}

}  // namespace terrarium::controllers::persistent_volume
