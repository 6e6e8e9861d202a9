#pragma once

// The served resources, for controllers that work on all of them: the garbage collector, the namespace
// controller, quotas. Kinds can be added and removed at run time, so these controllers follow the list
// instead of reading it once.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrarium::controllers {

// A resource of the API that can be listed, watched and deleted.
struct ServedResource {
  std::string resource;  // plural, e.g. "pods"
  std::string group;     // "" for core
  std::string version;
  std::string kind;
  bool namespaced = true;
  bool scalable = false;                         // has the scale subresource
  std::string client_name = {};                  // its name in api::Client; empty: the plural
  std::vector<std::string> other_versions = {};  // served as well, with the same objects

  const std::string& Name() const { return client_name.empty() ? resource : client_name; }
  std::string ApiVersion() const { return ApiVersion(version); }
  // The kind in any of its versions.
  bool Is(std::string_view api_version, std::string_view of_kind) const;

  friend bool operator==(const ServedResource&, const ServedResource&) = default;

 private:
  std::string ApiVersion(const std::string& of) const { return group.empty() ? of : group + "/" + of; }
};

// The resources that are served now. Single-threaded: lives on its component's lane, and calls its handlers
// there.
class ServedResources {
 public:
  explicit ServedResources(std::vector<ServedResource> resources = {}) : all_(std::move(resources)) {}
  ServedResources(const ServedResources&) = delete;
  ServedResources& operator=(const ServedResources&) = delete;

  const std::vector<ServedResource>& all() const { return all_; }
  // nullptr: not served. The pointer holds until the next change.
  const ServedResource* Find(std::string_view api_version, std::string_view kind) const;

  struct Handler {
    std::function<void(const ServedResource&)> added;
    // Its informer has reported all its objects as deleted, and is gone.
    std::function<void(const ServedResource&)> removed;
  };
  // Called for later changes; the current resources are in all().
  void AddHandler(Handler handler) { handlers_.push_back(std::move(handler)); }

  // Brings the list up to `now`: removals first, each with a call of `before_removal`, which removes its
  // informer. A resource that changed is removed and added.
  void Update(std::vector<ServedResource> now,
              const std::function<void(const ServedResource&)>& before_removal);

 private:
  std::vector<ServedResource> all_;
  std::vector<Handler> handlers_;
};

}  // namespace terrarium::controllers
