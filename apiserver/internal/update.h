#pragma once

// Steps that update, patch and the subresources share.

#include "api/base/status.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {

// The object's name and namespace agree with the path.
api::Result<bool> CheckNames(const Call& call, const Json& object);
// The object's resourceVersion, if it has one, is the current one.
api::Result<bool> CheckVersion(const Call& call, const Json& object, const api::Object& current);
// What replaces `old`: the prepared object, or its deletion when the last finalizer of a deleted object has
// gone.
api::Result<Change> Replace(Call& call, Json object, const Json& old);

}  // namespace terrarium::apiserver
