#include "testbed/control_plane/object_condition.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using api::Result;

api::Status BadCondition(std::string_view text, std::string_view why) {
  return api::BadRequest("condition " + api::Quote(text) + ": " + std::string(why));
}

bool EqualFold(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

Result<ObjectCondition> ObjectCondition::Parse(const std::string& text) {
  ObjectCondition out;
  std::string_view rest = text;
  if (text == "create" || text == "delete") {
    out.kind_ = text == "create" ? Kind::kCreate : Kind::kDelete;
    return out;
  }
  if (constexpr std::string_view kPrefix = "condition="; rest.starts_with(kPrefix)) {
    rest.remove_prefix(kPrefix.size());
    std::size_t equals = rest.find('=');
    out.kind_ = Kind::kCondition;
    out.name_ = rest.substr(0, equals);
    out.value_ = equals == std::string_view::npos ? "True" : std::string(rest.substr(equals + 1));
    if (out.name_.empty() || out.value_.empty())
      return BadCondition(text, "write condition=NAME or condition=NAME=VALUE");
    return out;
  }
  if (constexpr std::string_view kPrefix = "jsonpath="; rest.starts_with(kPrefix)) {
    rest.remove_prefix(kPrefix.size());
    std::size_t close = rest.rfind('}');
    std::size_t equals = rest.find('=', close == std::string_view::npos ? 0 : close);
    std::string_view path = Unquoted(rest.substr(0, equals));
    if (path.size() < 2 || path.front() != '{' || path.back() != '}')
      return BadCondition(text, "write jsonpath={.path}=VALUE");
    path = path.substr(1, path.size() - 2);
    if (!path.empty() && path.front() != '.' && path.front() != '[')
      return BadCondition(text, "a path begins with a dot");
    auto parsed = FieldPath::Parse(path);
    if (!parsed) return BadCondition(text, parsed.status().message);
    out.kind_ = Kind::kPath;
    out.path_ = std::move(*parsed);
    out.any_value_ = equals == std::string_view::npos;
    if (!out.any_value_) out.value_ = Unquoted(rest.substr(equals + 1));
    return out;
  }
  return BadCondition(text, "write create, delete, condition=NAME[=VALUE] or jsonpath={.path}[=VALUE]");
}

bool ObjectCondition::Holds(const Json* object) const {
  if (kind_ == Kind::kDelete) return object == nullptr;
  if (object == nullptr) return false;
  if (kind_ == Kind::kCreate) return true;
  if (kind_ == Kind::kCondition) {
    for (const Json& condition : api::ListAt(*object, "status", "conditions"))
      if (EqualFold(api::StringAt(condition, "type"), name_))
        return EqualFold(api::StringAt(condition, "status"), value_);
    return false;
  }
  const Json* value = path_.Find(*object);
  return value != nullptr && (any_value_ || PrintedValue(*value) == value_);
}

}  // namespace terrarium::testbed
