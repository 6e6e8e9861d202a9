#include "api/owner_reference.h"

#include <array>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

#include "api/json_access.h"

namespace terrarium::api {
namespace {

OwnerReference ReadReference(const Json& reference) {
  return {.api_version = std::string(StringAt(reference, "apiVersion")),
          .kind = std::string(StringAt(reference, "kind")),
          .name = std::string(StringAt(reference, "name")),
          .uid = std::string(StringAt(reference, "uid")),
          .controller = BoolAt(reference, "controller"),
          .block_owner_deletion = BoolAt(reference, "blockOwnerDeletion")};
}

// Compares without making strings.
bool IsSame(const OwnerReference& known, const Json& reference) {
  return known.uid == StringAt(reference, "uid") && known.name == StringAt(reference, "name") &&
         known.kind == StringAt(reference, "kind") &&
         known.api_version == StringAt(reference, "apiVersion") &&
         known.controller == BoolAt(reference, "controller") &&
         known.block_owner_deletion == BoolAt(reference, "blockOwnerDeletion");
}

// The references that were read last, one for each remainder of the uid's hash. Bounded: owners that share a
// slot take turns, and their objects share less.
struct SharedReference {
  static SharedReference& Of(std::string_view uid) {
    static std::array<SharedReference, 256> slots;
    return slots[std::hash<std::string_view>()(uid) % slots.size()];
  }

  std::mutex mutex;
  std::shared_ptr<const OwnerReference> last;  // guarded by mutex
};

}  // namespace

std::vector<OwnerReference> OwnerReferencesOf(const Json& document) {
  std::vector<OwnerReference> references;
  for (const Json& reference : ListAt(document, "metadata", "ownerReferences"))
    references.push_back(ReadReference(reference));
  return references;
}

std::shared_ptr<const OwnerReference> ControllerOf(const Json& document) {
  for (const Json& reference : ListAt(document, "metadata", "ownerReferences")) {
    if (!BoolAt(reference, "controller")) continue;
    SharedReference& shared = SharedReference::Of(StringAt(reference, "uid"));
    std::lock_guard lock(shared.mutex);
    if (shared.last == nullptr || !IsSame(*shared.last, reference))
      shared.last = std::make_shared<const OwnerReference>(ReadReference(reference));
    return shared.last;
  }
  return nullptr;
}

}  // namespace terrarium::api
