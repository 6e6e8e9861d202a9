#include "apiserver/resource_registry.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "apiserver/uptime.h"

namespace terrarium::apiserver {
namespace {

bool IsOf(const ResourceInfo& resource, std::string_view group, std::string_view plural) {
  return resource.group == group && resource.plural == plural;
}

}  // namespace

std::shared_ptr<ResourceRegistry> ResourceRegistry::Make() {
  return std::shared_ptr<ResourceRegistry>(new ResourceRegistry());
}

std::shared_ptr<const ResourceTable> ResourceRegistry::Table() const {
  std::lock_guard lock(mutex_);
  return table_;
}

void ResourceRegistry::Put(std::vector<ResourceInfo> versions) {
  CHECK(!versions.empty());
  const ResourceTable& built_in = *ResourceTable::BuiltIn();
  std::vector<ResourcePtr> entries;
  for (ResourceInfo& version : versions) {
    CHECK(built_in.Find(version.group, version.version, version.plural) == nullptr);
    CHECK(built_in.FindStorage(version.storage) == nullptr);
    CHECK(IsOf(version, versions.front().group, versions.front().plural));
    version.serial = NextResourceSerial();
    version.uptime = std::make_shared<Uptime>();
  }
  for (ResourceInfo& version : versions) {
    if (!entries.empty()) {
      CHECK(version.storage == entries.front()->storage);
      version.stored_as = entries.front();
    }
    entries.push_back(std::make_shared<const ResourceInfo>(version));
  }
  std::lock_guard one_at_a_time(change_mutex_);
  Notify(Exchange(entries.front()->group, entries.front()->plural, entries));
}

bool ResourceRegistry::Remove(std::string_view group, std::string_view plural) {
  std::lock_guard one_at_a_time(change_mutex_);
  const std::shared_ptr<const ResourceTable> current = Table();
  if (std::none_of(current->added().begin(), current->added().end(),
                   [&](const ResourcePtr& entry) { return IsOf(*entry, group, plural); }))
    return false;
  std::vector<ResourcePtr> gone = Exchange(group, plural, {});
  Notify(gone);
  return true;
}

std::vector<ResourcePtr> ResourceRegistry::Exchange(std::string_view group, std::string_view plural,
                                                    std::vector<ResourcePtr> versions) {
  std::vector<ResourcePtr> gone;
  const std::shared_ptr<const ResourceTable> current = Table();
  for (const ResourcePtr& entry : current->added())
    (IsOf(*entry, group, plural) ? gone : versions).push_back(entry);
  std::shared_ptr<const ResourceTable> next = ResourceTable::Make(std::move(versions));
  std::lock_guard lock(mutex_);
  table_.swap(next);
  return gone;
}

void ResourceRegistry::Notify(const std::vector<ResourcePtr>& gone) {
  std::vector<std::shared_ptr<std::function<void()>>> listeners;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, changed] : changed_) listeners.push_back(changed);
  }
  for (const ResourcePtr& entry : gone) entry->uptime->End(/*crash=*/false);
  for (const auto& changed : listeners) (*changed)();
}

std::unique_ptr<ResourceRegistry::Listener> ResourceRegistry::OnChange(std::function<void()> changed) {
  std::lock_guard lock(mutex_);
  const std::uint64_t id = ++last_listener_;
  changed_.emplace(id, std::make_shared<std::function<void()>>(std::move(changed)));
  return std::make_unique<Listener>(shared_from_this(), id);
}

ResourceRegistry::Listener::Listener(std::shared_ptr<ResourceRegistry> registry, std::uint64_t id)
    : registry_(std::move(registry)), id_(id) {}

ResourceRegistry::Listener::~Listener() {
  std::lock_guard lock(registry_->mutex_);
  registry_->changed_.erase(id_);
}

}  // namespace terrarium::apiserver
