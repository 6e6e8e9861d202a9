#pragma once

// The owners of an object's fields (metadata.managedFields), as the verbs keep them.

#include <functional>
#include <string>

#include "api/apply/ownership.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// Gives the owners of the object that a write makes. `document` is what the client wants: with its defaults
// and without the fields that a gate drops, but before the server sets anything else. `sent` is the
// managedFields that the client sent, null if there are none.
using OwnersRule = std::function<api::ManagedFieldsPtr(const Json& document, const Json& sent)>;

// The manager of a write: the fieldManager of its options, or else its User-Agent up to the first slash.
api::FieldManager ManagerOf(const Call& call, const std::string& field_manager, bool applied);

// The call's resource, or its subresource that shows the same object.
api::OwnedType OwnedTypeOf(const Call& call);

// nullptr if there are none.
api::ManagedFieldsPtr ShareOwners(api::ManagedFields owners);

// Of an object that the call creates.
OwnersRule OwnersOfNew(const Call& call, std::string field_manager);
// Of an object that the call updates. The rule refers to its arguments.
OwnersRule OwnersOfUpdate(const Call& call, const std::string& field_manager, const api::Object& current,
                          const Json& old);
// Known before.
OwnersRule OwnersAre(api::ManagedFieldsPtr owners);

// Whether the owners are the same. Times do not count: in Kubernetes, too, a write that would change only
// them changes nothing.
bool AreSameOwners(const api::ManagedFieldsPtr& a, const api::ManagedFieldsPtr& b);

}  // namespace terrarium::apiserver
