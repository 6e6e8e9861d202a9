#pragma once

// Short ways to read a document that has been normalised by the schema: present fields have their declared
// type.

#include <cstdint>
#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::api {

// The value at a path of object keys, or nullptr when any step is absent or null.
inline const Json* Find(const Json& object, std::string_view key) {
  const auto* members = object.get_ptr<const Json::object_t*>();
  if (members == nullptr) return nullptr;
  auto it = members->find(key);
  return it == members->end() || it->second.is_null() ? nullptr : &it->second;
}

template <typename... Keys>
const Json* Find(const Json& object, std::string_view key, Keys... more) {
  const Json* next = Find(object, key);
  return next == nullptr ? nullptr : Find(*next, more...);
}

// The value itself, or an empty object / list that outlives the program: for loops that need no presence
// check.
const Json& EmptyObject();
const Json& EmptyList();

template <typename... Keys>
const Json& ObjectAt(const Json& object, Keys... keys) {
  const Json* v = Find(object, keys...);
  return v != nullptr && v->is_object() ? *v : EmptyObject();
}

template <typename... Keys>
const Json& ListAt(const Json& object, Keys... keys) {
  const Json* v = Find(object, keys...);
  return v != nullptr && v->is_array() ? *v : EmptyList();
}

// "" when absent. The text lives as long as the document.
template <typename... Keys>
std::string_view StringAt(const Json& object, Keys... keys) {
  const Json* v = Find(object, keys...);
  return v != nullptr && v->is_string() ? std::string_view(v->get_ref<const std::string&>())
                                        : std::string_view{};
}

template <typename... Keys>
std::int64_t IntAt(const Json& object, std::int64_t otherwise, Keys... keys) {
  const Json* v = Find(object, keys...);
  return v != nullptr && v->is_number_integer() ? v->get<std::int64_t>() : otherwise;
}

template <typename... Keys>
bool BoolAt(const Json& object, Keys... keys) {
  const Json* v = Find(object, keys...);
  return v != nullptr && v->is_boolean() && v->get<bool>();
}

}  // namespace terrarium::api
