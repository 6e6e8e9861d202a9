#pragma once

// The patch that `kubectl apply` sends. It turns the current object into the wanted one and removes the
// fields that the last apply set and this one does not. Fields that other clients have set meanwhile
// (defaults, a status, an annotation) stay.

#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::api {

struct AppliedStates {
  const Json& original;  // as last applied; an empty object when unknown
  const Json& modified;  // as wanted now
  const Json& current;   // as it is
};

// A strategic merge patch for `current`, or an empty object when nothing has to change. For lists that the
// schema merges, the patch has the changes item by item, in the order of `modified`. Where the schema retains
// keys (a Deployment's strategy, a volume), the patch removes members that are not in `modified`. A merged
// list in which an item lacks its merge key is sent unchanged, and the server reports the error. REQUIRES:
// all three are objects that follow `schema`.
Json ThreeWayPatch(const AppliedStates& states, const Message& schema);

}  // namespace terrarium::api
