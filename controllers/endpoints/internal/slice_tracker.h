#pragma once

// The generations of the slices that a controller has written, so that it notices an old view and foreign
// changes. Mirrors EndpointSliceTracker of k8s.io/endpointslice/util, v1.36. Pure.

#include <cstdint>
#include <map>
#include <string>

#include "api/object.h"
#include "controllers/endpoints/internal/slice.h"

namespace terrarium::controllers::endpoints {

class SliceTracker {
 public:
  void Written(const api::ObjectName& service, const std::string& uid, std::int64_t generation);
  void ExpectDeletion(const api::ObjectName& service, const std::string& uid);
  void Forget(const api::ObjectName& service) { services_.erase(service); }

  bool Has(const api::ObjectName& service, const std::string& uid) const;
  // Whether the slice is newer than the controller's own writes.
  bool IsForeign(const api::ObjectName& service, const std::string& uid, std::int64_t generation) const;
  // Whether the view lacks own writes.
  bool IsStale(const api::ObjectName& service, const Slices& seen) const;
  // Follows a deletion. Returns whether the controller expected it.
  bool Deleted(const api::ObjectName& service, const std::string& uid);

 private:
  static constexpr std::int64_t kDeletion = -1;

  std::map<api::ObjectName, std::map<std::string, std::int64_t>> services_;  // generations by uid
};

}  // namespace terrarium::controllers::endpoints
