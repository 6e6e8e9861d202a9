#pragma once

// Steps that update, patch and the subresources share.

#include "api/base/status.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {

// Checks that the object's name and namespace agree with the path.
api::Result<void> CheckNames(const Call& call, const Json& object);
// Checks that the object's resourceVersion, if set, is the current one.
api::Result<void> CheckVersion(const Call& call, const Json& object, const api::Object& current);
// The change that replaces `old`: the prepared object, or its deletion when the last finalizer of a deleted
// object is removed.
api::Result<Change> Replace(Call& call, Json object, const Json& old, const OwnersRule& owners);

}  // namespace terrarium::apiserver
