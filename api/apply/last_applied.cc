#include "api/apply/last_applied.h"

#include <string>
#include <utility>

#include "api/apply/check_types.h"
#include "api/apply/listed_fields.h"
#include "api/codec/decode.h"
#include "api/json_access.h"
#include "api/json_text.h"

namespace terrarium::api {
namespace {

constexpr std::size_t kAnnotationBytesMax = 256 * 1024;

// The fields that the annotation lists and that have the same value still.
FieldSetPtr FieldsAsApplied(const OwnedType& type, const Json& object, std::string_view api_version) {
  const std::string_view text = StringAt(object, "metadata", "annotations", kLastAppliedAnnotation);
  if (text.empty()) return nullptr;
  Decoded last = DecodeJson(text, {.strict = false});
  if (last.error || !last.object.is_object() || StringAt(last.object, "apiVersion") != api_version)
    return nullptr;
  if (!CheckTypes(type.type, last.object).empty()) return nullptr;
  CanonicalizeForms(type.type, last.object);
  std::string error;
  const auto listed = ListedFields(type.type, last.object, &error);
  const auto comparison = Compare(type.type, last.object, object, &error);
  if (!listed || !comparison) return nullptr;
  return Difference(Difference(*listed, comparison->Set()), comparison->removed);
}

}  // namespace

FieldConflicts WithoutLastApplied(const OwnedType& type, const Json& object, std::string_view api_version,
                                  FieldConflicts conflicts) {
  const FieldSetPtr applied = FieldsAsApplied(type, object, api_version);
  std::erase_if(conflicts, [&](const FieldConflict& conflict) { return Has(applied, conflict.path); });
  return conflicts;
}

void UpdateLastApplied(const Json& config, Json& object) {
  if (StringAt(object, "metadata", "annotations", kLastAppliedAnnotation).empty()) return;
  Json applied = config;
  if (Json* annotations = const_cast<Json*>(Find(applied, "metadata", "annotations")))
    if (annotations->is_object()) annotations->erase(kLastAppliedAnnotation);
  std::string text;
  AppendJson(applied, text);
  text += '\n';
  Json& annotations = object["metadata"]["annotations"];
  std::size_t bytes = 0;
  annotations[kLastAppliedAnnotation] = std::move(text);
  for (auto it = annotations.begin(); it != annotations.end(); ++it)
    bytes += it.key().size() + (it->is_string() ? it->get_ref<const std::string&>().size() : 0);
  if (bytes > kAnnotationBytesMax) annotations.erase(kLastAppliedAnnotation);
}

}  // namespace terrarium::api
