#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "api/json_object.h"

namespace terrarium::api {

// Every object is a JSON document. Keys come out sorted, so equal documents have equal bytes. A reference into an object
// dies when a member is added to that object or erased from it (api/json_object.h).
using Json = nlohmann::basic_json<JsonObject>;

}  // namespace terrarium::api

// The library destroys a document by moving every value through a list first, so that one that is nested without end does
// not exhaust the stack. Ours are at most as deep as the decoder lets in, and everybody walks them by recursion.
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
// Without a string of its own for the key.
template <>
template <>
inline terrarium::api::Json& terrarium::api::Json::operator[](const char* key) {
  return operator[](std::string_view(key));
}
NLOHMANN_JSON_NAMESPACE_END
