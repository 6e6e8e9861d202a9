#include "controllers/runtime/owner_references.h"

#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectName;
using api::ObjectPtr;

enum class Claim { kKeep, kAdopt, kRelease, kIgnore };

// Mirrors pkg/controller/controller_ref_manager.go, ClaimObject (1.36).
Claim Decide(const Claimant& claimant, const api::Object& candidate) {
  const api::ObjectHeader& owner = claimant.owner->header();
  const bool matches =
      claimant.selector.Matches(candidate.header()) && (!claimant.belongs || claimant.belongs(candidate));
  const OwnerReference* controller = candidate.controller();
  if (controller != nullptr && controller->uid == owner.uid) {
    if (matches) return Claim::kKeep;
    return owner.deleting ? Claim::kIgnore : Claim::kRelease;
  }
  const bool adoptable = controller == nullptr && matches && !owner.deleting && !candidate.header().deleting;
  return adoptable ? Claim::kAdopt : Claim::kIgnore;
}

// The uid makes the apiserver reject a patch of another object that has taken the name.
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

// Why the owner may not adopt, if it may not. Reads the live owner: a stale view must not give new dependents
// to an owner that has been deleted or replaced.
std::optional<api::Status> CannotAdopt(api::Client& client, const Claimant& claimant) {
  const api::ObjectHeader& owner = claimant.owner->header();
  const ObjectName& name = claimant.owner->name();
  auto refuse = [&](const std::string& why) {
    return api::Conflict({.group = "", .resource = claimant.owner_resource}, owner.name, why);
  };
  api::Result<ObjectPtr> fresh = client.Get(claimant.owner_resource, name);
  if (!fresh) return refuse("can't recheck DeletionTimestamp: " + fresh.status().message);
  const api::ObjectHeader& now = (*fresh)->header();
  if (now.uid != owner.uid)
    return refuse("original " + claimant.kind + " " + name.String() + " is gone: got uid " + now.uid +
                  ", wanted " + owner.uid);
  if (now.deleting) return refuse(name.String() + " has just been deleted");
  return std::nullopt;
}

}  // namespace

Json ControllerReference(const api::Object& owner, std::string_view api_version, std::string_view kind) {
  return {{"apiVersion", api_version}, {"kind", kind},       {"name", owner.header().name},
          {"uid", owner.header().uid}, {"controller", true}, {"blockOwnerDeletion", true}};
}

api::Task<api::Result<std::vector<ObjectPtr>>> ClaimObjects(api::Client& client, Claimant claimant,
                                                            std::string resource,
                                                            std::vector<ObjectPtr> candidates) {
  std::vector<ObjectPtr> claimed;
  std::optional<api::Status> failed;
  bool may_adopt = false;
  for (const ObjectPtr& candidate : candidates) {
    const Claim claim = Decide(claimant, *candidate);
    if (claim == Claim::kKeep) claimed.push_back(candidate);
    if (claim == Claim::kKeep || claim == Claim::kIgnore) continue;

    const bool adopt = claim == Claim::kAdopt;
    if (adopt && !may_adopt) {
      // One check covers all candidates.
      std::optional<api::Status> refused = CannotAdopt(client, claimant);
      if (refused) co_return std::move(*refused);
      may_adopt = true;
    }
    const std::string& uid = candidate->header().uid;
    Json patch = adopt ? AdoptPatch(claimant, uid) : ReleasePatch(claimant, uid);
    api::Awaitable<api::Client::Written> patching =
        client.Patch(resource, candidate->name(), std::move(patch));
    api::Client::Written written = co_await std::move(patching);
    if (written.ok()) {
      if (adopt) claimed.push_back(*written);
      continue;
    }
    const api::Status& status = written.status();
    // The apiserver rejects a release as invalid when another client has already released or replaced the
    // object.
    const bool nothing_to_do =
        status.Is(api::reason::kNotFound) || (!adopt && status.Is(api::reason::kInvalid));
    if (!nothing_to_do && !failed) failed = status;
  }
  if (failed) co_return std::move(*failed);
  co_return std::move(claimed);
}

}  // namespace terrarium::controllers
