#include "api/schema/defaulting.h"

namespace terrarium::api {
namespace {

bool Absent(const Json& doc, std::string_view name) {
  const auto it = doc.find(name);
  return it == doc.end() || it->is_null();
}

// Go does not distinguish an empty string that was sent from one that was not.
bool Unset(const Json& doc, const Field& field) {
  const auto it = doc.find(field.name());
  if (it == doc.end() || it->is_null()) return true;
  return !field.Is(kPointer) && (*it == "" || *it == 0);
}

void ApplyPathDefault(const PathDefault& rule, Json& doc) {
  Json* at = &doc;
  for (std::size_t i = 0; i + 1 < rule.path.size(); ++i) {
    const auto it = at->find(rule.path[i]);
    if (it == at->end() || !it->is_object()) return;
    at = &*it;
  }
  if (Absent(*at, rule.path.back())) (*at)[std::string(rule.path.back())] = rule.value;
}

void Descend(const Field& field, Json& value) {
  if (field.def.cardinality == Cardinality::kSingle) {
    if (value.is_object()) ApplyDefaults(*field.message, value);
    return;
  }
  for (Json& element : value) {
    if (element.is_object()) ApplyDefaults(*field.message, element);
  }
}

}  // namespace

void ApplyDefaults(const Message& message, Json& doc) {
  if (!message.has_defaults()) return;
  for (const Field& field : message.fields()) {
    const bool below = field.message != nullptr && field.message->has_defaults();
    if (field.default_value.is_null() && !below) continue;
    if (!field.default_value.is_null() && Unset(doc, field)) {
      doc[std::string(field.name())] = field.default_value;
    }
    if (!below) continue;
    if (const auto it = doc.find(field.name()); it != doc.end()) Descend(field, *it);
  }
  for (const PathDefault& rule : message.path_defaults()) ApplyPathDefault(rule, doc);
}

}  // namespace terrarium::api
