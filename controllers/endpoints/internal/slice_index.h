#pragma once

// The slices of each Service that one controller manages, as its informer shows them. Each is read once.
// Single-threaded.

#include <map>
#include <string>

#include "api/object.h"
#include "controllers/endpoints/internal/slice.h"

namespace terrarium::controllers::endpoints {

// The Service of a slice by its label; an empty name: none.
api::ObjectName ServiceOf(const api::Object& slice);
// Whether the slice has the label of that manager.
bool IsManagedBy(const api::Object& slice, std::string_view manager);

class SliceIndex {
 public:
  explicit SliceIndex(std::string manager) : manager_(std::move(manager)) {}

  // Follows a change: `before` is nullptr for a new slice, `after` for a deleted one.
  void Follow(const api::ObjectPtr& before, const api::ObjectPtr& after);
  Slices Of(const api::ObjectName& service) const;

 private:
  bool Holds(const api::Object& slice) const { return IsManagedBy(slice, manager_); }

  const std::string manager_;
  std::map<api::ObjectName, std::map<std::string, SlicePtr>> slices_;  // by Service, then name
};

}  // namespace terrarium::controllers::endpoints
