#include "api/schema/defaulting.h"

namespace terrarium::api {
namespace {

bool Absent(const Json& doc, std::string_view name) {
  const auto it = doc.find(name);
  return it == doc.end() || it->is_null();
}

// Text that is not a pointer in Go has no other way of being absent than to be empty.
bool NeedsDefault(const Field& field, const Json& doc) {
  if (Absent(doc, field.name())) return true;
  if (field.Is(kPointer) || field.def.type != FieldType::kString) return false;
  return doc.find(field.name())->is_string() && doc.find(field.name())->get_ref<const std::string&>().empty();
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
    if (!field.default_value.is_null() && NeedsDefault(field, doc)) {
      doc[std::string(field.name())] = field.default_value;
    }
    if (!below) continue;
    if (const auto it = doc.find(field.name()); it != doc.end()) Descend(field, *it);
  }
  for (const PathDefault& rule : message.path_defaults()) ApplyPathDefault(rule, doc);
}

}  // namespace terrarium::api
