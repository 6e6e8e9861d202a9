#include "apiserver/subresources/internal/pod_container.h"

#include "api/base/errors.h"
#include "api/json_access.h"

namespace terrarium::apiserver {

api::Result<std::string> ChooseContainer(const Json& pod, const std::string& asked) {
  const std::string name(api::StringAt(pod, "metadata", "name"));
  const Json& regular = api::ListAt(pod, "spec", "containers");
  if (asked.empty() && regular.size() == 1) return std::string(api::StringAt(regular[0], "name"));
  std::string all;
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"})
    for (const Json& container : api::ListAt(pod, "spec", list)) {
      if (!asked.empty() && api::StringAt(container, "name") == asked) return asked;
      all.append(all.empty() ? "" : " ").append(api::StringAt(container, "name"));
    }
  if (!asked.empty()) return api::BadRequest("container " + asked + " is not valid for pod " + name);
  return api::BadRequest("a container name must be specified for pod " + name + ", choose one of: [" + all +
                         "]");
}

api::Result<void> CheckNode(const Call& call, const Json& pod) {
  const std::string node(api::StringAt(pod, "spec", "nodeName"));
  if (call.server.store.Get({"nodes", "", node}) != nullptr) return {};
  // Kubernetes reports the resource of the request (pods), although a node is missing.
  return api::NotFound(call.resource().Resource(), node);
}

}  // namespace terrarium::apiserver
