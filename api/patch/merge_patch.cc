#include "api/patch/merge_patch.h"

#include <utility>

#include "api/base/errors.h"
#include "api/patch/internal/patch_words.h"

namespace terrarium::api {
namespace {

// A value that has no counterpart in the document still carries the patch's nulls: they mean "absent". Like the
// library Kubernetes uses, and unlike the RFC, this reaches the objects inside lists as well.
void PruneNulls(Json& value) {
  if (value.is_object()) {
    for (auto it = value.begin(); it != value.end();) {
      if (it->is_null()) {
        it = value.erase(it);
      } else {
        PruneNulls(*it);
        ++it;
      }
    }
  } else if (value.is_array()) {
    for (Json& item : value) PruneNulls(item);
  }
}

void Merge(Json& target, Json&& patch) {
  for (auto it = patch.begin(); it != patch.end(); ++it) {
    if (it->is_null()) {
      target.erase(it.key());
      continue;
    }
    Json& slot = target[it.key()];
    if (slot.is_object() && it->is_object()) {
      Merge(slot, std::move(*it));
    } else {
      if (!slot.is_object()) PruneNulls(*it);
      slot = std::move(*it);
    }
  }
}

}  // namespace

Result<Json> ApplyMergePatch(Json document, Json patch) {
  CHECK(document.is_object());
  if (patch.is_null()) return BadRequest("Invalid JSON Patch");
  if (!patch.is_object())
    return BadRequest("error decoding patch: " + CannotUnmarshal(patch, "value of type map[string]interface {}"));
  Merge(document, std::move(patch));
  return document;
}

}  // namespace terrarium::api
