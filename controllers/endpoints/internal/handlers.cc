#include "controllers/endpoints/internal/handlers.h"

#include <algorithm>
#include <optional>

#include "api/json_access.h"
#include "controllers/endpoints/internal/service_view.h"
#include "controllers/endpoints/internal/slice_index.h"

namespace terrarium::controllers::endpoints {
namespace {

// Whether the slice is newer than the controller's own writes.
bool IsForeign(const SliceTracker& tracker, const api::Object& slice) {
  const std::shared_ptr<const api::Json> document = slice.Document();
  return tracker.IsForeign(ServiceOf(slice), slice.header().uid,
                           api::IntAt(*document, 0, "metadata", "generation"));
}

}  // namespace

void FollowSelector(ServicePods& selected, const api::Object* before, const api::Object* after,
                    const Informer& pods) {
  if (after == nullptr) return selected.Remove(before->name());
  const std::optional<api::LabelSelector> selector = SelectorOf(*after);
  if (!selector) return selected.Remove(after->name());
  if (!selected.Has(after->name(), *selector))
    selected.Set(after->name(), *selector, pods.List(after->header().ns));
}

std::vector<ObjectName> AffectedServices(SliceTracker& tracker, std::string_view manager,
                                         const ObjectPtr& before, const ObjectPtr& after) {
  std::vector<ObjectName> services;
  if (after == nullptr) {
    const ObjectName service = ServiceOf(*before);
    const std::string& uid = before->header().uid;
    if (IsManagedBy(*before, manager) && tracker.Has(service, uid) && !tracker.Deleted(service, uid))
      services.push_back(service);
  } else if (before != nullptr && ServiceOf(*before) != ServiceOf(*after)) {
    services = {ServiceOf(*after), ServiceOf(*before)};
  } else {
    const bool managed = IsManagedBy(*after, manager);
    const bool was_managed = before == nullptr ? managed : IsManagedBy(*before, manager);
    if (managed != was_managed || (managed && IsForeign(tracker, *after)))
      services.push_back(ServiceOf(*after));
  }
  std::erase_if(services, [](const ObjectName& service) { return service.name.empty(); });
  return services;
}

std::string AggregateText(const std::vector<std::string>& errors) {
  std::vector<std::string> distinct;
  for (const std::string& error : errors)
    if (std::find(distinct.begin(), distinct.end(), error) == distinct.end()) distinct.push_back(error);
  if (distinct.size() == 1) return distinct[0];
  std::string text = "[";
  for (const std::string& error : distinct) text += (text.size() == 1 ? "" : ", ") + error;
  return text + "]";
}

}  // namespace terrarium::controllers::endpoints
