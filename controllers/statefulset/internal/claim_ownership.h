#pragma once

// Which owners a claim has under persistentVolumeClaimRetentionPolicy, so that the garbage collector deletes
// it with them. Pure.
//
//   whenScaled  whenDeleted  owner of a replica's claim  owner of a condemned pod's claim
//   Retain      Retain       none                        none
//   Retain      Delete       the set                     the set
//   Delete      Retain       none                        the pod
//   Delete      Delete       the set                     the pod

#include <string>

#include "api/json.h"
#include "controllers/statefulset/internal/set_spec.h"

namespace terrarium::controllers::statefulset {

// The owners of one claim that the policy is about.
struct ClaimParties {
  std::string set_name;
  std::string set_uid;
  std::string pod_name;
  std::string pod_uid;  // empty: the pod does not exist yet
  RetentionPolicy policy;
  bool pod_is_condemned = false;
};

// `references` are the claim's metadata.ownerReferences.

// Whether a controller that is neither the set nor the pod manages the claim. The policy then does not apply
// to it.
bool HasForeignController(const api::Json& references, const ClaimParties& parties);
// Whether the claim belongs to an earlier pod of the same name, and goes with it.
bool IsOfEarlierPod(const api::Json& references, const ClaimParties& parties);
// Whether the references are those that the policy asks for, or must not be touched.
bool OwnersMatch(const api::Json& references, const ClaimParties& parties);
// The references that the policy asks for.
api::Json WantedOwners(const api::Json& references, const ClaimParties& parties);

}  // namespace terrarium::controllers::statefulset
