#pragma once

#include <string>

namespace terrarium::controllers {

// A resource of the API that can be listed, watched and deleted, as controllers see it that work on all of them.
struct ServedResource {
  std::string resource;  // plural, e.g. "pods"
  std::string group;     // "" for core
  std::string version;
  std::string kind;
  bool namespaced = true;
  bool scalable = false;  // has the scale subresource

  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
};

}  // namespace terrarium::controllers
