#include "controllers/runtime/owner_references.h"

#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectName;
using api::ObjectPtr;

OwnerReference ReadReference(const Json& reference) {
  return {.api_version = std::string(api::StringAt(reference, "apiVersion")),
          .kind = std::string(api::StringAt(reference, "kind")),
          .name = std::string(api::StringAt(reference, "name")),
          .uid = std::string(api::StringAt(reference, "uid")),
          .controller = api::BoolAt(reference, "controller"),
          .block_owner_deletion = api::BoolAt(reference, "blockOwnerDeletion")};
}

// The uid of the owner marked as controller, or empty. The text lives as long as the document.
std::string_view ControllerUid(const Json& document) {
  for (const Json& reference : api::ListAt(document, "metadata", "ownerReferences"))
    if (api::BoolAt(reference, "controller")) return api::StringAt(reference, "uid");
  return {};
}

enum class Claim { kKeep, kAdopt, kRelease, kIgnore };

// Mirrors pkg/controller/controller_ref_manager.go, ClaimObject (1.36).
Claim Decide(const Claimant& claimant, const api::Object& candidate) {
  const api::ObjectHeader& owner = claimant.owner->header();
  const bool matches = claimant.selector.Matches(candidate.header());
  std::shared_ptr<const Json> document = candidate.Document();
  std::string_view controller = ControllerUid(*document);
  if (controller == owner.uid) {
    if (matches) return Claim::kKeep;
    return owner.deleting ? Claim::kIgnore : Claim::kRelease;
  }
  const bool orphan = controller.empty();
  const bool adoptable = orphan && matches && !owner.deleting && !candidate.header().deleting;
  return adoptable ? Claim::kAdopt : Claim::kIgnore;
}

// The uid makes the apiserver refuse a patch of another object that has taken the name meanwhile.
Json AdoptPatch(const Claimant& claimant, const std::string& uid) {
  Json patch;
  patch["metadata"]["uid"] = uid;
  patch["metadata"]["ownerReferences"] =
      Json::array({ControllerReference(*claimant.owner, claimant.api_version, claimant.kind)});
  if (!claimant.finalizer.empty()) patch["metadata"]["finalizers"] = Json::array({claimant.finalizer});
  return patch;
}

Json ReleasePatch(const Claimant& claimant, const std::string& uid) {
  Json reference = {{"$patch", "delete"}, {"uid", claimant.owner->header().uid}};
  Json patch;
  patch["metadata"]["uid"] = uid;
  patch["metadata"]["ownerReferences"] = Json::array({std::move(reference)});
  if (!claimant.finalizer.empty())
    patch["metadata"]["$deleteFromPrimitiveList/finalizers"] = Json::array({claimant.finalizer});
  return patch;
}

// Why the owner may not adopt, if so. A view that has not heard of the owner's deletion or replacement must not give it
// new dependents.
std::optional<api::Status> CannotAdopt(api::Client& client, const Claimant& claimant) {
  const api::ObjectHeader& owner = claimant.owner->header();
  const ObjectName name{owner.ns, owner.name};
  auto refuse = [&](const std::string& why) {
    return api::Conflict({.group = "", .resource = claimant.owner_resource}, owner.name, why);
  };
  api::Result<ObjectPtr> fresh = client.Get(claimant.owner_resource, name);
  if (!fresh) return refuse("can't recheck DeletionTimestamp: " + fresh.status().message);
  const api::ObjectHeader& now = (*fresh)->header();
  if (now.uid != owner.uid)
    return refuse("original " + claimant.kind + " " + name.String() + " is gone: got uid " + now.uid + ", wanted " +
                  owner.uid);
  if (now.deleting) return refuse(name.String() + " has just been deleted");
  return std::nullopt;
}

}  // namespace

std::vector<OwnerReference> OwnerReferencesOf(const Json& document) {
  std::vector<OwnerReference> references;
  for (const Json& reference : api::ListAt(document, "metadata", "ownerReferences"))
    references.push_back(ReadReference(reference));
  return references;
}

std::optional<OwnerReference> ControllerOf(const Json& document) {
  for (const Json& reference : api::ListAt(document, "metadata", "ownerReferences"))
    if (api::BoolAt(reference, "controller")) return ReadReference(reference);
  return std::nullopt;
}

Json ControllerReference(const api::Object& owner, std::string_view api_version, std::string_view kind) {
  return {{"apiVersion", api_version},
          {"kind", kind},
          {"name", owner.header().name},
          {"uid", owner.header().uid},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

api::Task<api::Result<std::vector<ObjectPtr>>> ClaimObjects(api::Client& client, Claimant claimant,
                                                            std::string resource, std::vector<ObjectPtr> candidates) {
  std::vector<ObjectPtr> claimed;
  std::optional<api::Status> failed;
  bool may_adopt = false;
  for (const ObjectPtr& candidate : candidates) {
    const Claim claim = Decide(claimant, *candidate);
    if (claim == Claim::kKeep) claimed.push_back(candidate);
    if (claim == Claim::kKeep || claim == Claim::kIgnore) continue;

    const bool adopt = claim == Claim::kAdopt;
    if (adopt && !may_adopt) {
      // One answer is good for all of them.
      std::optional<api::Status> refused = CannotAdopt(client, claimant);
      if (refused) co_return std::move(*refused);
      may_adopt = true;
    }
    const api::ObjectHeader& header = candidate->header();
    Json patch = adopt ? AdoptPatch(claimant, header.uid) : ReleasePatch(claimant, header.uid);
    ObjectName name{header.ns, header.name};
    api::Awaitable<api::Client::Written> patching = client.Patch(resource, std::move(name), std::move(patch));
    api::Client::Written written = co_await std::move(patching);
    if (written.ok()) {
      if (adopt) claimed.push_back(candidate);
      continue;
    }
    const api::Status& status = written.status();
    // Releasing is refused as invalid when the object has been released, or replaced, by somebody else already.
    const bool nothing_to_do = status.Is(api::reason::kNotFound) || (!adopt && status.Is(api::reason::kInvalid));
    if (!nothing_to_do && !failed) failed = status;
  }
  if (failed) co_return std::move(*failed);
  co_return std::move(claimed);
}

}  // namespace terrarium::controllers
