#pragma once

// JSON patch (RFC 6902) as implemented by the library that Kubernetes uses (evanphx/json-patch v4):
//   - `replace` of an absent object member adds it, and `test` of an absent member against null succeeds;
//   - negative array indexes count from the end;
//   - any text before the first '/' of a path is ignored;
//   - only `replace` and `test` may address the whole document.

#include <string>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"

namespace terrarium::api {

inline constexpr std::size_t kMaxJsonPatchOperations = 10'000;
// The limit on the sum of all `copy` operations of one patch.
inline constexpr std::size_t kMaxJsonPatchCopiedBytes = 3 * 1024 * 1024;

// The patched document, or
//   400  `patch` is not a list of operations
//   413  too many operations
//   422  an operation that does not apply: a failed test, a missing path, a bad index, an unknown operation.
//        The message is Kubernetes': "the server rejected our request due to an error in our request".
Result<Json> ApplyJsonPatch(Json document, const Json& patch);

// The strict validation errors for unknown members of operations: `json patch unknown field "[0].foo"`; at
// most 100, as with other documents.
std::vector<std::string> JsonPatchUnknownFields(const Json& patch);

}  // namespace terrarium::api
