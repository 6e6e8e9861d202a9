#pragma once

// Adopting and releasing objects by selector.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/client.h"
#include "api/json.h"
#include "api/object.h"
#include "api/owner_reference.h"
#include "api/selector/label_selector.h"

namespace terrarium::controllers {

using api::ControllerOf;
using api::OwnerReference;
using api::OwnerReferencesOf;

// The ownerReferences entry by which `owner` controls an object: controller and blockOwnerDeletion are true.
api::Json ControllerReference(const api::Object& owner, std::string_view api_version, std::string_view kind);

struct Claimant {
  api::ObjectPtr owner;
  std::string api_version;
  std::string kind;
  std::string owner_resource;  // "replicasets": where the owner is read again before it adopts
  api::LabelSelector selector;
  std::string finalizer = {};  // added to adopted and removed from released objects; empty: none
  // What an object must meet besides the selector to belong to the owner; empty: nothing.
  std::function<bool(const api::Object&)> belongs = {};
};

// Decides which of `candidates` (objects of `resource` in the owner's namespace) belong to the claimant, and
// returns their updated versions: keeps those it controls and that match, releases those it controls that no
// longer match, adopts matching orphans. Objects controlled by others are left alone, objects being deleted
// are not adopted, and an owner that is being deleted neither adopts nor releases. Before the first adoption
// the owner is read from the apiserver, not from a cache: if it is another object or being deleted, the call
// fails with a conflict. Objects that were deleted in the meantime are skipped. After another error the
// remaining objects are still processed; the first error is returned.
api::Task<api::Result<std::vector<api::ObjectPtr>>> ClaimObjects(api::Client& client, Claimant claimant,
                                                                 std::string resource,
                                                                 std::vector<api::ObjectPtr> candidates);

}  // namespace terrarium::controllers
