#pragma once

// Adopting and releasing objects by selector.

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
  std::string finalizer = {};  // put on what is adopted and taken off what is released; empty: none
};

// Decides which of `candidates` (objects of `resource` in the owner's namespace) belong to the claimant, and
// returns them as they are then: keeps those it controls and that match, releases those it controls that do
// not match any more, adopts matching orphans. Objects controlled by others are left alone, objects being
// deleted are not adopted, and an owner that is being deleted neither adopts nor releases. Before the first
// adoption the owner is read from the apiserver, not from a cache: unless it is still the same object and not
// being deleted, all ends there with a conflict. Objects that are gone meanwhile are skipped. Other failures
// do not keep it from the rest; the first of them is the outcome.
api::Task<api::Result<std::vector<api::ObjectPtr>>> ClaimObjects(api::Client& client, Claimant claimant,
                                                                 std::string resource,
                                                                 std::vector<api::ObjectPtr> candidates);

}  // namespace terrarium::controllers
