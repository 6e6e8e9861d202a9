#include "api/patch/internal/patch_words.h"

#include "api/codec/internal/go_words.h"

namespace terrarium::api {

std::string GoValue(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.get<std::string>();
  std::string out;
  if (value.is_object()) {
    for (const auto& [key, member] : value.items())
      out.append(out.empty() ? "map[" : " ").append(key).append(":").append(GoValue(member));
    return out.empty() ? "map[]" : out + "]";
  }
  if (value.is_array()) {
    for (const Json& item : value) out.append(out.empty() ? "[" : " ").append(GoValue(item));
    return out.empty() ? "[]" : out + "]";
  }
  return value.dump();
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
