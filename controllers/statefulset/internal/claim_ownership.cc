#include "controllers/statefulset/internal/claim_ownership.h"

#include <algorithm>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::statefulset {
namespace {

using api::Json;
using api::StringAt;

bool Names(const Json& reference, std::string_view api_version, std::string_view kind,
           std::string_view name) {
  return StringAt(reference, "apiVersion") == api_version && StringAt(reference, "kind") == kind &&
         StringAt(reference, "name") == name;
}

bool NamesSet(const Json& reference, const ClaimParties& parties) {
  return Names(reference, "apps/v1", "StatefulSet", parties.set_name);
}

bool NamesPod(const Json& reference, const ClaimParties& parties) {
  return Names(reference, "v1", "Pod", parties.pod_name);
}

bool IsController(const Json& reference) { return api::BoolAt(reference, "controller"); }

bool HasOwner(const Json& references, const std::string& uid) {
  return std::any_of(references.begin(), references.end(),
                     [&](const Json& reference) { return StringAt(reference, "uid") == uid; });
}

// Whether the first reference of that name is of an object that is gone.
template <typename NamesOwner>
bool HasStaleOwner(const Json& references, const std::string& uid, NamesOwner names_owner) {
  auto found = std::find_if(references.begin(), references.end(), names_owner);
  return found != references.end() && StringAt(*found, "uid") != uid;
}

bool HasStaleSet(const Json& references, const ClaimParties& parties) {
  return HasStaleOwner(references, parties.set_uid,
                       [&](const Json& reference) { return NamesSet(reference, parties); });
}

// The set or the pod is an owner, and not the controller.
bool HasPlainOwner(const Json& references, const ClaimParties& parties) {
  return std::any_of(references.begin(), references.end(), [&](const Json& reference) {
    const std::string_view uid = StringAt(reference, "uid");
    return (uid == parties.set_uid || uid == parties.pod_uid) && !IsController(reference);
  });
}

bool SetOwns(const ClaimParties& parties) {
  const RetentionPolicy& policy = parties.policy;
  return policy.deletes_when_deleted && !(policy.deletes_when_scaled && parties.pod_is_condemned);
}

bool PodOwns(const ClaimParties& parties) {
  return parties.policy.deletes_when_scaled && parties.pod_is_condemned;
}

Json Reference(std::string_view api_version, std::string_view kind, const std::string& name,
               const std::string& uid) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", uid}, {"controller", true},
          {"blockOwnerDeletion", true}};
}

}  // namespace

bool HasForeignController(const Json& references, const ClaimParties& parties) {
  if (parties.policy.RetainsAll()) return false;
  return std::any_of(references.begin(), references.end(), [&](const Json& reference) {
    const std::string_view uid = StringAt(reference, "uid");
    // The same name with another uid: the pods were orphaned, and the claim is left to the garbage collector.
    if (NamesSet(reference, parties)) return uid != parties.set_uid;
    if (NamesPod(reference, parties)) return uid != parties.pod_uid;
    return IsController(reference);
  });
}

bool IsOfEarlierPod(const Json& references, const ClaimParties& parties) {
  return HasStaleOwner(references, parties.pod_uid,
                       [&](const Json& reference) { return NamesPod(reference, parties); });
}

bool OwnersMatch(const Json& references, const ClaimParties& parties) {
  // Of an earlier set or pod of that name: it is left to the garbage collector.
  if (HasStaleSet(references, parties) || IsOfEarlierPod(references, parties)) return true;
  const bool has_set = HasOwner(references, parties.set_uid);
  const bool has_pod = HasOwner(references, parties.pod_uid);
  if (HasForeignController(references, parties)) return !has_set && !has_pod;
  if (HasPlainOwner(references, parties)) return false;
  return has_set == SetOwns(parties) && has_pod == PodOwns(parties);
}

Json WantedOwners(const Json& references, const ClaimParties& parties) {
  Json wanted = Json::array();
  for (const Json& reference : references)
    if (!NamesSet(reference, parties) && !NamesPod(reference, parties)) wanted.push_back(reference);
  if (HasForeignController(references, parties)) return wanted;
  if (PodOwns(parties)) wanted.push_back(Reference("v1", "Pod", parties.pod_name, parties.pod_uid));
  if (SetOwns(parties))
    wanted.push_back(Reference("apps/v1", "StatefulSet", parties.set_name, parties.set_uid));
  return wanted;
}

}  // namespace terrarium::controllers::statefulset
