#pragma once

// Kubernetes' strategic merge patch: a merge patch that knows from the schema which lists are merged, and by
// which key.
//
//   null                              removes the field
//   $patch: replace | delete          in an object: replace it whole, or leave it empty
//   $patch: delete                    in an item of a merged list: remove the item with that merge key
//   $patch: replace                   as an item of a merged list: the other items replace the list
//   $retainKeys: [...]                keep only these fields of the object
//   $setElementOrder/FIELD: [...]     the order of the merged list FIELD
//   $deleteFromPrimitiveList/FIELD    values to take out of the list of scalars FIELD
//
// Order of a merged list: the patch's items keep the patch's order (or that of $setElementOrder), the items
// that only the server has keep the server's order, and the two are interleaved by the server's order as far
// as that knows both; an item that is new to the server comes before the server's remaining ones.

#include "api/base/status.h"
#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::api {

// The patched document. Fields that the schema does not know are merged as plain JSON and left for strict
// decoding to report, and so are directives below an object that the document did not have (except objects
// with $patch, which add nothing). Failures, as Kubernetes gives them:
//   400  `patch` is not an object; a malformed directive
//   422  lists of lists
//   500  a merged list's item without merge key, an unknown $patch, an order that contradicts the patch
// REQUIRES: `document` is an object that follows `schema`.
Result<Json> ApplyStrategicMergePatch(Json document, Json patch, const Message& schema);

}  // namespace terrarium::api
