#include "controllers/endpoints/internal/slice_index.h"

namespace terrarium::controllers::endpoints {

api::ObjectName ServiceOf(const api::Object& slice) {
  const std::string* name = api::FindLabel(slice.header(), kServiceNameLabel);
  return {slice.header().ns, name == nullptr ? "" : *name};
}

bool IsManagedBy(const api::Object& slice, std::string_view manager) {
  const std::string* label = api::FindLabel(slice.header(), kSliceManagerLabel);
  return label != nullptr && *label == manager;
}

void SliceIndex::Follow(const api::ObjectPtr& before, const api::ObjectPtr& after) {
  if (before != nullptr && Holds(*before)) {
    if (auto found = slices_.find(ServiceOf(*before)); found != slices_.end()) {
      found->second.erase(before->header().name);
      if (found->second.empty()) slices_.erase(found);
    }
  }
  if (after != nullptr && Holds(*after)) slices_[ServiceOf(*after)][after->header().name] = ReadSlice(after);
}

Slices SliceIndex::Of(const api::ObjectName& service) const {
  Slices slices;
  if (auto found = slices_.find(service); found != slices_.end())
    for (const auto& [name, slice] : found->second) slices.push_back(slice);
  return slices;
}

}  // namespace terrarium::controllers::endpoints
