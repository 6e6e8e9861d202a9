#pragma once

// The patch that `kubectl apply` sends: what turns the object as it is into the object as it is wanted, and takes away
// what the last apply had set and this one does not. What others have set meanwhile (defaults, a status, an annotation)
// stays.

#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::api {

struct AppliedStates {
  const Json& original;  // as last applied; an empty object when nobody knows
  const Json& modified;  // as wanted now
  const Json& current;   // as it is
};

// A strategic merge patch for `current`; an empty object when there is nothing to do. Lists that the schema merges are
// told item by item, in the order of `modified`; where the schema retains keys (a Deployment's strategy, a volume),
// members that are not in `modified` go. A merged list in which an item lacks its merge key is sent as it is, and the
// server says what is wrong with it.
// REQUIRES: all three are objects that follow `schema`.
Json ThreeWayPatch(const AppliedStates& states, const Message& schema);

}  // namespace terrarium::api
