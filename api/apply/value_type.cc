#include "api/apply/value_type.h"

#include <algorithm>
#include <utility>

namespace terrarium::api {
namespace {

// What an item has under a key that it does not mention: the default, else Go's zero value, which the OpenAPI
// document declares as a default too. Null: nothing.
Json KeyDefault(const Field& key) {
  if (!key.default_value.is_null()) return key.default_value;
  if (key.Is(kPointer) || key.def.cardinality != Cardinality::kSingle) return nullptr;
  switch (key.def.type) {
    case FieldType::kString: return "";
    case FieldType::kInt32:
    case FieldType::kInt64: return 0;
    case FieldType::kBool: return false;
    default: return nullptr;
  }
}

// Go's words for a list of names: ["a" "b"].
std::string QuotedNames(std::string_view names) {
  std::string out = "[\"";
  for (const char c : names) {
    if (c == ',')
      out += "\" \"";
    else
      out += c;
  }
  return out + "\"]";
}

// The keys of a list: those of its list type, else the merge key of strategic merge patches.
std::string_view KeysOfList(const FieldDef& def) {
  return def.list_type != ListType::kNone ? def.list_map_keys : def.patch_merge_key;
}

}  // namespace

ValueType ValueType::Of(const Message& message) {
  return {message.fields().empty() ? Kind::kFree : Kind::kStruct, nullptr, &message};
}

ValueType ValueType::Of(const Field& field) {
  switch (field.def.cardinality) {
    case Cardinality::kList: return {Kind::kList, &field, nullptr};
    case Cardinality::kMap: return {Kind::kMap, &field, nullptr};
    case Cardinality::kSingle: return OfElement(field);
  }
  return {};
}

ValueType ValueType::OfElement(const Field& field) {
  switch (field.def.type) {
    case FieldType::kMessage:
      return {field.message->fields().empty() ? Kind::kFree : Kind::kStruct, &field, field.message};
    case FieldType::kRawObject: return {Kind::kRaw, &field, nullptr};
    case FieldType::kFieldsV1:
    case FieldType::kIntOrString:  // its OpenAPI schema has no type, so that the decoder alone refuses
                                   // objects
    case FieldType::kAny: return {Kind::kFree, &field, nullptr};
    case FieldType::kStringList: return {Kind::kRaw, &field, nullptr};
    default: return {Kind::kScalar, &field, nullptr};
  }
}

bool ValueType::IsAtomicObject() const {
  switch (kind_) {
    // The field declares this for its single value or for the map as a whole; elements follow their own type.
    case Kind::kStruct:
      if (field_ != nullptr && field_->def.granular) return false;
      return message_->atomic_struct() ||
             (field_ != nullptr && field_->def.atomic && field_->def.cardinality == Cardinality::kSingle);
    case Kind::kMap: return field_->def.atomic;
    case Kind::kFree: return false;
    default: return true;
  }
}

const Field* ValueType::FindField(const MemberName& name) const {
  return kind_ == Kind::kStruct ? message_->FindKey(name.text()) : nullptr;
}

ValueType ValueType::Member(const MemberName& name) const {
  switch (kind_) {
    case Kind::kStruct: {
      const Field* field = FindField(name);
      return field != nullptr ? Of(*field) : ValueType();
    }
    case Kind::kMap: return OfElement(*field_);
    case Kind::kFree:
    case Kind::kRaw: return *this;
    default: return {};
  }
}

bool ValueType::IsAssociativeList() const {
  if (kind_ != Kind::kList) return false;
  const FieldDef& def = field_->def;
  if (def.list_type != ListType::kNone) return def.list_type != ListType::kAtomic;
  return (def.patch_strategy & kPatchMerge) != 0;
}

bool ValueType::IsSet() const { return IsAssociativeList() && KeysOfList(field_->def).empty(); }

ValueType ValueType::Element() const { return kind_ == Kind::kList ? OfElement(*field_) : *this; }

std::optional<PathElement> ValueType::ElementOf(const Json& item, std::string* error) const {
  if (!KeysOfList(field_->def).empty()) return KeysOf(item, error);
  switch (item.type()) {
    case Json::value_t::object:
      *error = "associative list without keys has an element that's a map type";
      break;
    case Json::value_t::array: *error = "not supported: associative list with lists as elements"; break;
    case Json::value_t::null:
      *error = "associative list without keys has an element that's an explicit null";
      break;
    default: return PathElement::Value(item);
  }
  return std::nullopt;
}

std::optional<PathElement> ValueType::KeysOf(const Json& item, std::string* error) const {
  if (item.is_null()) return *error = "associative list with keys may not have a null element", std::nullopt;
  if (!item.is_object())
    return *error = "associative list with keys may not have non-map elements", std::nullopt;
  const std::string_view names = KeysOfList(field_->def);
  const Message* message = field_->message;
  Json keys = Json::object();
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    const std::string_view name = names.substr(at, end - at);
    at = end + 1;
    if (const auto it = item.find(name); it != item.end()) {
      keys[std::string(name)] = *it;
      continue;
    }
    const Field* key = message != nullptr ? message->Find(name) : nullptr;
    if (key == nullptr) continue;
    if (Json value = KeyDefault(*key); !value.is_null()) keys[std::string(name)] = std::move(value);
  }
  if (!keys.empty()) return PathElement::Key(std::move(keys));
  *error = "associative list with keys has an element that omits all key fields " + QuotedNames(names) +
           " (and doesn't have default values for any key fields)";
  return std::nullopt;
}

ValueType::Scalar ValueType::scalar() const {
  switch (field_->def.type) {
    case FieldType::kInt32:
    case FieldType::kInt64:
    case FieldType::kDouble: return Scalar::kNumber;
    case FieldType::kString:
    case FieldType::kBytes:
    case FieldType::kDuration: return Scalar::kString;
    case FieldType::kBool: return Scalar::kBool;
    default: return Scalar::kAny;
  }
}

}  // namespace terrarium::api
