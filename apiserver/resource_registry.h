#pragma once

// The resources that one control plane serves: the built-in ones, and others that come and go while it runs.
// It outlives restarts of the apiserver. Thread-safe.
//
// A reader takes the current table and keeps it for as long as it works with its entries; a change makes a
// new table and leaves the old one to its readers.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

class ResourceRegistry : public std::enable_shared_from_this<ResourceRegistry> {
 public:
  static std::shared_ptr<ResourceRegistry> Make();

  // Copies a pointer under a lock that is held only for such copies.
  std::shared_ptr<const ResourceTable> Table() const;

  // Serves `versions` of one resource instead of those served before; the first of them owns the storage
  // name, and the others' stored_as is set to it. Watches of a replaced entry end, so that clients resume
  // with the new one. REQUIRES: at least one version; all have the same group, plural, kind and storage name,
  // none of which a built-in resource has.
  void Put(std::vector<ResourceInfo> versions);
  // No longer serves the resource: requests get 404, its watches end. False: it was not there.
  bool Remove(std::string_view group, std::string_view plural);

  // A subscription, which ends when it is destroyed.
  class Listener {
   public:
    Listener(std::shared_ptr<ResourceRegistry> registry, std::uint64_t id);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    std::shared_ptr<ResourceRegistry> registry_;
    std::uint64_t id_;
  };
  // `changed` is called after each change, in the thread that makes it and without locks held, so that
  // Table() is the new one. It must not block or change the registry, and it may still come while the
  // listener is destroyed: it holds what it needs by weak or shared pointers.
  std::unique_ptr<Listener> OnChange(std::function<void()> changed);

 private:
  ResourceRegistry() = default;
  // Replaces the added entries of a resource; returns the old ones.
  std::vector<ResourcePtr> Exchange(std::string_view group, std::string_view plural,
                                    std::vector<ResourcePtr> versions);
  void Notify(const std::vector<ResourcePtr>& gone);

  std::mutex change_mutex_;  // one change at a time
  mutable std::mutex mutex_;
  std::shared_ptr<const ResourceTable> table_ = ResourceTable::BuiltIn();    // guarded by mutex_
  std::map<std::uint64_t, std::shared_ptr<std::function<void()>>> changed_;  // guarded by mutex_
  std::uint64_t last_listener_ = 0;                                          // guarded by mutex_
};

}  // namespace terrarium::apiserver
