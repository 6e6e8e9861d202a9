#pragma once

// Syncs claims and volumes, one of each at a time. The decisions are in the other headers of this folder and
// in api/core_v1/volume_binding.h.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/persistent_volume/internal/binding_cache.h"
#include "controllers/persistent_volume/internal/volume_metrics.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/key_timers.h"

namespace terrarium::controllers::persistent_volume {

class PersistentVolumeController : public std::enable_shared_from_this<PersistentVolumeController> {
 public:
  explicit PersistentVolumeController(const ControllerContext& context);

  // Registers with the informers, which may outlive this controller.
  void Watch();
  void Start();

 private:
  using Failure = std::optional<api::Status>;
  template <typename T>
  using Outcome = api::Task<api::Result<T>>;

  // DIVERGES: Kubernetes resyncs all claims and volumes after that time; here only those that wait for
  // something.
  static constexpr api::Duration kResync = std::chrono::seconds(15);

  // persistent_volume_controller.cc: handlers of informer events, and reports.
  void WatchClaims();
  void WatchVolumes();
  void VolumeChanged(const VolumePtr& old, const VolumePtr& now);
  void ClaimDeleted(const api::ObjectPtr& claim);
  void VolumeDeleted(const api::ObjectPtr& volume);
  void ClassSeen(const api::ObjectPtr& storage_class);
  void WakeClaimFor(const api::Volume& volume);
  // After a sync of the claim: volumes that woke it and that it did not take wake another claim.
  void EndWake(const ObjectName& claim);
  void ClaimEvent(const api::Object& claim, std::string_view type, std::string_view reason,
                  std::string message);
  void VolumeEvent(const api::Object& volume, std::string_view type, std::string_view reason,
                   std::string message);
  void Explain(std::string_view action, const api::Volume& volume, const ObjectName& claim, std::string rule,
               api::Json saw);

  // claim_sync.cc
  api::Task<ReconcileResult> SyncClaim(ObjectName name);
  api::Task<Failure> SyncUnbound(ClaimPtr claim);
  api::Task<Failure> SyncWithoutVolume(ClaimPtr claim, ObjectPtr storage_class);
  api::Task<Failure> SyncNamingVolume(ClaimPtr claim);
  api::Task<Failure> SyncBound(ClaimPtr claim);
  api::Task<Failure> AssignClass(ClaimPtr claim, std::string class_name);
  api::Task<Failure> Provision(ClaimPtr claim, ObjectPtr storage_class);
  api::Task<Failure> Lose(ClaimPtr claim, std::string_view reason, std::string message);
  void ReportWaiting(const api::VolumeClaim& claim);

  // volume_sync.cc
  api::Task<ReconcileResult> SyncVolume(ObjectName key);
  api::Task<Failure> SyncClaimed(VolumePtr volume);
  api::Task<Failure> Release(VolumePtr volume);
  api::Task<Failure> Recycle(VolumePtr volume);
  api::Task<Failure> Delete(VolumePtr volume);
  // The claim of a volume; nullptr: it does not exist any more.
  api::Result<ClaimPtr> ClaimOf(const api::Volume& volume);
  std::vector<std::string> PodsUsing(const ObjectName& claim, bool unscheduled_only) const;

  // binding.cc: writes, whose results the cache gets.
  api::Task<Failure> Bind(VolumePtr volume, ClaimPtr claim, std::string rule);
  api::Task<Failure> Unbind(VolumePtr volume);
  Outcome<VolumePtr> SetPhase(VolumePtr volume, std::string phase);
  api::Task<Failure> Fail(VolumePtr volume, std::string_view reason, std::string message);
  Outcome<VolumePtr> WriteVolume(api::Json volume, std::string_view subresource);
  Outcome<ClaimPtr> WriteClaim(api::Json claim, std::string_view subresource);
  // `volume` null: the claim has none.
  Outcome<ClaimPtr> SetStatus(ClaimPtr claim, std::string phase, VolumePtr volume);

  api::Time Now() const { return context_.env.clock.Now(); }

  ControllerContext context_;
  Informer& claims_;
  Informer& volumes_;
  Informer& classes_;
  Informer& pods_;
  VolumeMetrics metrics_;
  BindingCache cache_;
  // Claims that a free volume has woken and whose sync has not ended: the next volume wakes another one.
  std::set<ObjectName> woken_;
  std::map<ObjectName, std::vector<std::string>> wakers_;  // the volumes that woke them
  // Background timers: a claim that only waits for a volume or a pod is idle.
  KeyTimers claim_resyncs_;
  KeyTimers volume_resyncs_;
  // Last members: their reconciles use all of the above.
  ControllerLoop volume_loop_;
  ControllerLoop claim_loop_;
};

}  // namespace terrarium::controllers::persistent_volume
