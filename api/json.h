#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "api/json_object.h"

namespace terrarium::api {

// Every object is a JSON document. Keys are written sorted, so equal documents have equal bytes. Adding or
// erasing a member of an object invalidates references into that object (api/json_object.h).
using Json = nlohmann::basic_json<JsonObject>;

}  // namespace terrarium::api

// The library destroys a document by first moving every value to a list, so that unbounded nesting does not
// exhaust the stack. The decoder limits the depth of our documents, so recursive destruction is safe, as is
// the other code that walks them recursively.
NLOHMANN_JSON_NAMESPACE_BEGIN
template <>
inline void terrarium::api::Json::json_value::destroy(value_t type) {
  switch (type) {
    case value_t::object: delete object; break;
    case value_t::array: delete array; break;
    case value_t::string: delete string; break;
    case value_t::binary: delete binary; break;
    default: break;
  }
}
// Looks the key up without constructing a std::string.
template <>
template <>
inline terrarium::api::Json& terrarium::api::Json::operator[](const char* key) {
  return operator[](std::string_view(key));
}
NLOHMANN_JSON_NAMESPACE_END
