#pragma once

// JSON patch (RFC 6902) with the habits of the library that Kubernetes uses for it (evanphx/json-patch v4),
// because clients have learned them:
//   - `replace` of an object member that is absent adds it, and `test` of an absent member against null
//   succeeds;
//   - negative array indexes count from the end;
//   - whatever stands before the first '/' of a path is ignored;
//   - only `replace` and `test` may address the whole document.

#include <string>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"

namespace terrarium::api {

inline constexpr std::size_t kMaxJsonPatchOperations = 10'000;
// What the `copy` operations of one patch may add up to.
inline constexpr std::size_t kMaxJsonPatchCopiedBytes = 3 * 1024 * 1024;

// The patched document, or
//   400 when `patch` is no list of operations,
//   413 when it has too many of them,
//   422 when one does not apply: a failed test, a missing path, a bad index, an unknown operation. Kubernetes
//   says no
//       more than that "the server rejected our request due to an error in our request", and so do we.
Result<Json> ApplyJsonPatch(Json document, const Json& patch);

// What strict field validation says about members that no operation has: `json patch unknown field
// "[0].foo"`; at most 100, as with other documents.
std::vector<std::string> JsonPatchUnknownFields(const Json& patch);

}  // namespace terrarium::api
