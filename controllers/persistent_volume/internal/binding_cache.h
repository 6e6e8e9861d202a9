#pragma once

// The newest known volumes and claims: those that the informers have shown, and those that the binder itself
// has written. A binding takes four writes; without their results the binder would try to correct each event
// of its own. Finds what a claim can be bound to without a search through all volumes.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "api/base/quantity.h"
#include "api/core_v1/volume_binding.h"
#include "api/object.h"

namespace terrarium::controllers::persistent_volume {

using VolumePtr = std::shared_ptr<const api::Volume>;
using ClaimPtr = std::shared_ptr<const api::VolumeClaim>;

class BindingCache {
 public:
  // Called after each change; nullptr: absent.
  using VolumeChanged = std::function<void(const VolumePtr& old, const VolumePtr& now)>;
  using ClaimChanged = std::function<void(const ClaimPtr& old, const ClaimPtr& now)>;
  BindingCache(VolumeChanged volume_changed, ClaimChanged claim_changed)
      : volume_changed_(std::move(volume_changed)), claim_changed_(std::move(claim_changed)) {}

  // Ignores a version that is not newer than the known one.
  void PutVolume(const api::ObjectPtr& object);
  void PutClaim(const api::ObjectPtr& object);
  void RemoveVolume(const std::string& name);
  void RemoveClaim(const api::ObjectName& name);

  // nullptr when absent.
  VolumePtr Volume(const std::string& name) const;
  ClaimPtr Claim(const api::ObjectName& name) const;
  // The volumes whose claimRef names the claim, whatever its uid.
  const std::set<std::string>& VolumesFor(const api::ObjectName& claim) const;
  // The claims whose spec names the volume.
  const std::set<api::ObjectName>& ClaimsNaming(const std::string& volume) const;
  // The claims of that class, nullopt: without a class, that are not bound and name no volume.
  const std::set<api::ObjectName>& WaitingClaims(const std::optional<std::string>& class_name) const;

  enum class Free { kIncluded, kExcluded };
  // The volume for the claim: among those with the fewest access modes that suffice, the one that is reserved
  // for it, or else the smallest free one. nullptr: none. kExcluded: only a reserved one.
  VolumePtr BestMatch(const api::VolumeClaim& claim, Free free) const;
  // The first claim by name that waits, for which the free volume fits, and that `skips` does not hold.
  ClaimPtr WaitingClaimFor(const api::Volume& volume, const std::set<api::ObjectName>& skips) const;

 private:
  // Few access modes first.
  using ModesKey = std::pair<int, api::AccessModes>;
  using BySize = std::map<std::pair<api::Quantity, std::string>, VolumePtr>;
  using FreeVolumes = std::map<ModesKey, BySize>;

  static ModesKey KeyOf(api::AccessModes modes);
  static bool IsFree(const api::Volume& volume) { return !volume.claim && volume.IsAvailable(); }
  static bool Waits(const api::VolumeClaim& claim) {
    return !claim.bind_completed && claim.volume_name.empty();
  }
  static std::optional<std::string> WaitingKey(const api::VolumeClaim& claim);
  void Index(const VolumePtr& volume);
  void Unindex(const VolumePtr& volume);
  void Index(const ClaimPtr& claim);
  void Unindex(const ClaimPtr& claim);
  VolumePtr BestReserved(const api::VolumeClaim& claim) const;

  VolumeChanged volume_changed_;
  ClaimChanged claim_changed_;
  std::map<std::string, VolumePtr> volumes_;
  std::map<api::ObjectName, ClaimPtr> claims_;
  std::map<api::ObjectName, std::set<std::string>> volumes_for_;
  std::map<std::string, std::set<api::ObjectName>> claims_naming_;
  std::map<std::string, FreeVolumes> free_;  // by class
  std::map<std::optional<std::string>, std::set<api::ObjectName>> waiting_;
};

}  // namespace terrarium::controllers::persistent_volume
