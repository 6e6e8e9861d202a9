#include "controllers/runtime/served_resource.h"

#include <algorithm>
#include <utility>

namespace terrarium::controllers {

bool ServedResource::Is(std::string_view api_version, std::string_view of_kind) const {
  if (kind != of_kind) return false;
  if (ApiVersion() == api_version) return true;
  return std::any_of(other_versions.begin(), other_versions.end(),
                     [&](const std::string& other) { return ApiVersion(other) == api_version; });
}

const ServedResource* ServedResources::Find(std::string_view api_version, std::string_view kind) const {
  auto it = std::find_if(all_.begin(), all_.end(),
                         [&](const ServedResource& resource) { return resource.Is(api_version, kind); });
  return it == all_.end() ? nullptr : &*it;
}

void ServedResources::Update(std::vector<ServedResource> now,
                             const std::function<void(const ServedResource&)>& before_removal) {
  std::vector<ServedResource> before = std::exchange(all_, std::move(now));
  auto contains = [](const std::vector<ServedResource>& list, const ServedResource& resource) {
    return std::find(list.begin(), list.end(), resource) != list.end();
  };
  for (const ServedResource& gone : before) {
    if (contains(all_, gone)) continue;
    before_removal(gone);
    for (const Handler& handler : handlers_)
      if (handler.removed) handler.removed(gone);
  }
  for (const ServedResource& fresh : all_) {
    if (contains(before, fresh)) continue;
    for (const Handler& handler : handlers_)
      if (handler.added) handler.added(fresh);
  }
}

}  // namespace terrarium::controllers
