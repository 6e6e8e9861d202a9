#pragma once

// What the three controllers of this folder do alike when something changes.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/endpoints/internal/service_pods.h"
#include "controllers/endpoints/internal/slice_tracker.h"
#include "controllers/runtime/informer.h"

namespace terrarium::controllers::endpoints {

// A handler that calls `changed(controller, before, after)` while the controller lives. `before` is nullptr
// for a new object, `after` for a deleted one.
template <typename T, typename Changed>
EventHandler HandlerOf(std::weak_ptr<T> weak, Changed changed) {
  EventHandler handler;
  handler.added = [weak, changed](const ObjectPtr& object) {
    if (auto self = weak.lock()) changed(*self, nullptr, object);
  };
  handler.updated = [weak, changed](const ObjectPtr& old, const ObjectPtr& object) {
    if (auto self = weak.lock()) changed(*self, old, object);
  };
  handler.deleted = [weak, changed](const ObjectPtr& object) {
    if (auto self = weak.lock()) changed(*self, object, nullptr);
  };
  return handler;
}

// Follows the selector of a Service. `before` is nullptr for a new one, `after` for a deleted one.
void FollowSelector(ServicePods& selected, const api::Object* before, const api::Object* after,
                    const Informer& pods);

// Follows a change of a slice in the tracker of the controller with that label, and returns the Services to
// be synced: another client made it.
std::vector<ObjectName> AffectedServices(SliceTracker& tracker, std::string_view manager,
                                         const ObjectPtr& before, const ObjectPtr& after);

// Several errors in Go's form: "[a, b]". REQUIRES: there is one.
std::string AggregateText(const std::vector<std::string>& errors);

}  // namespace terrarium::controllers::endpoints
