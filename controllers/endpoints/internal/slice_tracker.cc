#include "controllers/endpoints/internal/slice_tracker.h"

#include <algorithm>

namespace terrarium::controllers::endpoints {

using api::ObjectName;

void SliceTracker::Written(const ObjectName& service, const std::string& uid, std::int64_t generation) {
  services_[service][uid] = generation;
}

void SliceTracker::ExpectDeletion(const ObjectName& service, const std::string& uid) {
  services_[service][uid] = kDeletion;
}

bool SliceTracker::Has(const ObjectName& service, const std::string& uid) const {
  const auto found = services_.find(service);
  return found != services_.end() && found->second.contains(uid);
}

bool SliceTracker::IsForeign(const ObjectName& service, const std::string& uid,
                             std::int64_t generation) const {
  return !Has(service, uid) || generation > services_.at(service).at(uid);
}

bool SliceTracker::IsStale(const ObjectName& service, const Slices& seen) const {
  const auto found = services_.find(service);
  if (found == services_.end()) return false;
  const std::map<std::string, std::int64_t>& written = found->second;
  for (const SlicePtr& slice : seen) {
    const auto known = written.find(slice->uid);
    if (known != written.end() && (known->second == kDeletion || known->second > slice->generation))
      return true;
  }
  return std::any_of(written.begin(), written.end(), [&](const auto& entry) {
    const auto& [uid, generation] = entry;
    return generation != kDeletion &&
           std::none_of(seen.begin(), seen.end(), [&](const SlicePtr& slice) { return slice->uid == uid; });
  });
}

bool SliceTracker::Deleted(const ObjectName& service, const std::string& uid) {
  const auto found = services_.find(service);
  if (found == services_.end()) return true;
  const auto known = found->second.find(uid);
  if (known == found->second.end()) return true;
  const bool expected = known->second == kDeletion;
  found->second.erase(known);
  return expected;
}

}  // namespace terrarium::controllers::endpoints
