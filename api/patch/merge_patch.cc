#include "api/patch/merge_patch.h"

#include <utility>

#include "api/base/errors.h"
#include "api/patch/internal/member_changes.h"
#include "api/patch/internal/patch_words.h"

namespace terrarium::api {
namespace {

// A value that has no counterpart in the document still carries the patch's nulls: they mean "absent". Like
// the library Kubernetes uses, and unlike the RFC, this reaches the objects inside lists as well.
void PruneNulls(Json& value) {
  if (value.is_object())
    value.get_ref<Json::object_t&>().EraseIf([](const auto& member) { return member.second.is_null(); });
  if (value.is_structured())
    for (Json& below : value) PruneNulls(below);
}

void Merge(Json& target, Json&& patch) {
  MemberChanges changes(target);
  for (auto& [name, value] : patch.get_ref<Json::object_t&>()) {
    if (value.is_null()) {
      changes.Erase(name.text());
      continue;
    }
    Json* old = changes.Find(name.text());
    if (old != nullptr && old->is_object() && value.is_object()) {
      Merge(*old, std::move(value));
    } else {
      if (old == nullptr || !old->is_object()) PruneNulls(value);
      changes.Set(name.text(), std::move(value));
    }
  }
  changes.Apply();
}

}  // namespace

Result<Json> ApplyMergePatch(Json document, Json patch) {
  CHECK(document.is_object());
  if (patch.is_null()) return BadRequest("Invalid JSON Patch");
  if (!patch.is_object())
    return BadRequest("error decoding patch: " +
                      CannotUnmarshal(patch, "value of type map[string]interface {}"));
  Merge(document, std::move(patch));
  return document;
}

}  // namespace terrarium::api
