#include "tests/controllers/runtime/informer_testing.h"

#include "api/json_access.h"

namespace terrarium::controllers_testing {

using api::Json;

Json Pod(const std::string& name, const std::string& node, const std::string& ns) {
  Json pod = {{"metadata", {{"name", name}, {"namespace", ns}}}, {"spec", Json::object()}};
  if (!node.empty()) pod["spec"]["nodeName"] = node;
  return pod;
}

std::string NodeOf(const api::Object& pod) {
  return std::string(api::StringAt(*pod.Document(), "spec", "nodeName"));
}

std::vector<std::string> NodeIndex(const api::Object& pod) {
  std::string node = NodeOf(pod);
  return node.empty() ? std::vector<std::string>{} : std::vector<std::string>{node};
}

std::string Names(const std::vector<api::ObjectPtr>& objects) {
  std::string names;
  for (const api::ObjectPtr& object : objects)
    names += (names.empty() ? "" : " ") + object->header().ns + "/" + object->header().name;
  return names;
}

}  // namespace terrarium::controllers_testing
