#include "api/patch/internal/patch_words.h"

#include <utility>

#include "api/codec/go_words.h"

namespace terrarium::api {

namespace {

// Appends to one text, so that a deeply nested value is not copied again at each level.
void AppendGoValue(const Json& value, std::string& out) {
  const char* separator = "";
  if (value.is_object()) {
    out += "map[";
    for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
      out.append(std::exchange(separator, " ")).append(key.text()).append(":");
      AppendGoValue(member, out);
    }
    out += ']';
  } else if (value.is_array()) {
    out += '[';
    for (const Json& item : value) {
      out.append(std::exchange(separator, " "));
      AppendGoValue(item, out);
    }
    out += ']';
  } else if (value.is_null()) {
    out += "<nil>";
  } else {
    out += value.is_string() ? value.get_ref<const std::string&>() : value.dump();
  }
}

}  // namespace

std::string GoValue(const Json& value) {
  std::string out;
  AppendGoValue(value, out);
  return out;
}

std::string GoType(const Json& value) {
  if (value.is_null()) return "%!s(<nil>)";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  if (value.is_object()) return "map[string]interface {}";
  if (value.is_array()) return "[]interface {}";
  return value.is_number_float() ? "float64" : "int64";
}

std::string CannotUnmarshal(const Json& value, std::string_view into) {
  return "json: cannot unmarshal " + GoKind(value) + " into Go " + std::string(into);
}

Status RejectedPatch() {
  Status s;
  s.code = 422;
  s.reason = reason::kInvalid;
  s.message = "the server rejected our request due to an error in our request";
  s.details.emplace();
  return s;
}

}  // namespace terrarium::api
