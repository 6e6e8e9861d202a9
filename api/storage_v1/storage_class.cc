#include "api/storage_v1/storage_class.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::api {

bool WaitsForFirstConsumer(const Json& storage_class) {
  return StringAt(storage_class, "volumeBindingMode") == "WaitForFirstConsumer";
}

bool IsDefaultClass(const Json& storage_class) {
  for (const char* key :
       {"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"})
    if (StringAt(storage_class, "metadata", "annotations", key) == "true") return true;
  return false;
}

ObjectPtr DefaultClass(const std::vector<ObjectPtr>& storage_classes) {
  ObjectPtr found;
  std::string newest;
  for (const ObjectPtr& storage_class : storage_classes) {
    const auto document = storage_class->Document();
    if (!IsDefaultClass(*document)) continue;
    std::string created(StringAt(*document, "metadata", "creationTimestamp"));
    const bool better = found == nullptr || created > newest ||
                        (created == newest && storage_class->name().name < found->name().name);
    if (!better) continue;
    found = storage_class;
    newest = std::move(created);
  }
  return found;
}

}  // namespace terrarium::api
