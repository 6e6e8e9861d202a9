#include "controllers/persistent_volume/internal/binding_cache.h"

#include <bit>

namespace terrarium::controllers::persistent_volume {
namespace {

using api::ObjectName;

// Erases a value from a set of an index, and the set when it is empty.
template <typename Index, typename Key, typename Value>
void EraseFrom(Index& index, const Key& key, const Value& value) {
  auto it = index.find(key);
  if (it == index.end()) return;
  it->second.erase(value);
  if (it->second.empty()) index.erase(it);
}

template <typename Index, typename Key>
const typename Index::mapped_type& SetAt(const Index& index, const Key& key) {
  static const typename Index::mapped_type kEmpty;
  auto it = index.find(key);
  return it == index.end() ? kEmpty : it->second;
}

bool Suffice(api::AccessModes modes, const api::VolumeClaim& claim) { return (claim.modes & ~modes) == 0; }

}  // namespace

BindingCache::ModesKey BindingCache::KeyOf(api::AccessModes modes) { return {std::popcount(modes), modes}; }

std::optional<std::string> BindingCache::WaitingKey(const api::VolumeClaim& claim) {
  return claim.has_class ? std::optional(claim.class_name) : std::nullopt;
}

void BindingCache::PutVolume(const api::ObjectPtr& object) {
  VolumePtr& known = volumes_[object->name().name];
  if (known != nullptr && known->object->revision() >= object->revision()) return;
  const VolumePtr old = known;
  if (old != nullptr) Unindex(old);
  const VolumePtr now = std::make_shared<const api::Volume>(api::ReadVolume(object));
  known = now;
  Index(now);
  volume_changed_(old, now);
}

void BindingCache::PutClaim(const api::ObjectPtr& object) {
  ClaimPtr& known = claims_[object->name()];
  if (known != nullptr && known->object->revision() >= object->revision()) return;
  const ClaimPtr old = known;
  if (old != nullptr) Unindex(old);
  const ClaimPtr now = std::make_shared<const api::VolumeClaim>(api::ReadVolumeClaim(object));
  known = now;
  Index(now);
  claim_changed_(old, now);
}

void BindingCache::RemoveVolume(const std::string& name) {
  auto it = volumes_.find(name);
  if (it == volumes_.end()) return;
  const VolumePtr old = it->second;
  Unindex(old);
  volumes_.erase(it);
  volume_changed_(old, nullptr);
}

void BindingCache::RemoveClaim(const ObjectName& name) {
  auto it = claims_.find(name);
  if (it == claims_.end()) return;
  const ClaimPtr old = it->second;
  Unindex(old);
  claims_.erase(it);
  claim_changed_(old, nullptr);
}

void BindingCache::Index(const VolumePtr& volume) {
  if (volume->claim) volumes_for_[volume->claim->name].insert(volume->name());
  if (IsFree(*volume))
    free_[volume->class_name][KeyOf(volume->modes)][{volume->capacity, volume->name()}] = volume;
}

void BindingCache::Unindex(const VolumePtr& volume) {
  if (volume->claim) EraseFrom(volumes_for_, volume->claim->name, volume->name());
  if (!IsFree(*volume)) return;
  auto of_class = free_.find(volume->class_name);
  EraseFrom(of_class->second, KeyOf(volume->modes), std::pair(volume->capacity, volume->name()));
  if (of_class->second.empty()) free_.erase(of_class);
}

void BindingCache::Index(const ClaimPtr& claim) {
  if (!claim->volume_name.empty()) claims_naming_[claim->volume_name].insert(claim->object->name());
  if (Waits(*claim)) waiting_[WaitingKey(*claim)].insert(claim->object->name());
}

void BindingCache::Unindex(const ClaimPtr& claim) {
  if (!claim->volume_name.empty()) EraseFrom(claims_naming_, claim->volume_name, claim->object->name());
  if (Waits(*claim)) EraseFrom(waiting_, WaitingKey(*claim), claim->object->name());
}

VolumePtr BindingCache::Volume(const std::string& name) const {
  auto it = volumes_.find(name);
  return it == volumes_.end() ? nullptr : it->second;
}

ClaimPtr BindingCache::Claim(const ObjectName& name) const {
  auto it = claims_.find(name);
  return it == claims_.end() ? nullptr : it->second;
}

const std::set<std::string>& BindingCache::VolumesFor(const ObjectName& claim) const {
  return SetAt(volumes_for_, claim);
}

const std::set<ObjectName>& BindingCache::ClaimsNaming(const std::string& volume) const {
  return SetAt(claims_naming_, volume);
}

const std::set<ObjectName>& BindingCache::WaitingClaims(const std::optional<std::string>& class_name) const {
  return SetAt(waiting_, class_name);
}

VolumePtr BindingCache::BestReserved(const api::VolumeClaim& claim) const {
  VolumePtr best;
  for (const std::string& name : VolumesFor(claim.object->name())) {
    VolumePtr volume = Volume(name);
    if (!Suffice(volume->modes, claim) || !api::IsVolumeFor(*volume, claim) ||
        !api::FitsReserved(*volume, claim))
      continue;
    if (best == nullptr || KeyOf(volume->modes) < KeyOf(best->modes)) best = std::move(volume);
  }
  return best;
}

VolumePtr BindingCache::BestMatch(const api::VolumeClaim& claim, Free free) const {
  VolumePtr reserved = BestReserved(claim);
  auto of_class = free_.find(claim.class_name);
  if (free == Free::kExcluded || of_class == free_.end()) return reserved;
  for (const auto& [modes, by_size] : of_class->second) {
    if (reserved != nullptr && KeyOf(reserved->modes) <= modes) return reserved;
    if (!Suffice(modes.second, claim)) continue;
    for (auto it = by_size.lower_bound({claim.request, ""}); it != by_size.end(); ++it)
      if (api::FitsFree(*it->second, claim)) return it->second;
  }
  return reserved;
}

ClaimPtr BindingCache::WaitingClaimFor(const api::Volume& volume, const std::set<ObjectName>& skips) const {
  if (!IsFree(volume)) return nullptr;
  const std::optional<std::string> of_class = volume.class_name;
  for (const auto& key : {of_class, std::optional<std::string>()}) {
    // A claim without a class is matched as one of the class "".
    if (!key && !volume.class_name.empty()) continue;
    for (const ObjectName& name : WaitingClaims(key)) {
      ClaimPtr claim = Claim(name);
      if (!skips.contains(name) && api::FitsFree(volume, *claim)) return claim;
    }
  }
  return nullptr;
}

}  // namespace terrarium::controllers::persistent_volume
