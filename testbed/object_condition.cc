#include "testbed/object_condition.h"

#include <algorithm>
#include <charconv>
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

// 'text' or "text" without its quotes.
std::string_view Unquoted(std::string_view text) {
  bool quoted = text.size() >= 2 && text.front() == text.back() && (text.front() == '\'' || text.front() == '"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::string Printed(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

bool EqualFold(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
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
    if (out.name_.empty() || out.value_.empty()) return BadCondition(text, "write condition=NAME or condition=NAME=VALUE");
    return out;
  }
  if (constexpr std::string_view kPrefix = "jsonpath="; rest.starts_with(kPrefix)) {
    rest.remove_prefix(kPrefix.size());
    std::size_t close = rest.rfind('}');
    std::size_t equals = rest.find('=', close == std::string_view::npos ? 0 : close);
    std::string_view path = Unquoted(rest.substr(0, equals));
    if (path.size() < 2 || path.front() != '{' || path.back() != '}')
      return BadCondition(text, "write jsonpath={.path}=VALUE");
    auto steps = ParsePath(path.substr(1, path.size() - 2));
    if (!steps) return BadCondition(text, steps.status().message);
    out.kind_ = Kind::kPath;
    out.path_ = std::move(*steps);
    out.any_value_ = equals == std::string_view::npos;
    if (!out.any_value_) out.value_ = Unquoted(rest.substr(equals + 1));
    return out;
  }
  return BadCondition(text, "write create, delete, condition=NAME[=VALUE] or jsonpath={.path}[=VALUE]");
}

Result<ObjectCondition::Step> ObjectCondition::ParseBracket(std::string_view inside) {
  std::size_t index = 0;
  auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (error == std::errc() && end == inside.data() + inside.size()) return Step(Index{index});
  constexpr std::string_view kOpen = "?(@.";
  std::size_t equals = inside.find("==");
  if (!inside.starts_with(kOpen) || !inside.ends_with(')') || equals == std::string_view::npos)
    return api::BadRequest("brackets hold an index or ?(@.name==\"value\")");
  std::string_view value = inside.substr(equals + 2, inside.size() - equals - 3);
  return Step(Filter{std::string(inside.substr(kOpen.size(), equals - kOpen.size())), std::string(Unquoted(value))});
}

Result<std::vector<ObjectCondition::Step>> ObjectCondition::ParsePath(std::string_view text) {
  std::vector<Step> steps;
  while (!text.empty()) {
    if (text.front() == '.') {
      std::size_t end = text.find_first_of(".[", 1);
      std::string_view name = text.substr(1, end == std::string_view::npos ? end : end - 1);
      if (name.empty()) return api::BadRequest("a member has no name");
      steps.emplace_back(Member{std::string(name)});
      text.remove_prefix(1 + name.size());
    } else if (text.front() == '[') {
      std::size_t end = text.find(']');
      if (end == std::string_view::npos) return api::BadRequest("a bracket is not closed");
      auto step = ParseBracket(text.substr(1, end - 1));
      if (!step) return step.status();
      steps.push_back(std::move(*step));
      text.remove_prefix(end + 1);
    } else {
      return api::BadRequest("a path begins with a dot");
    }
  }
  if (steps.empty()) return api::BadRequest("the path is empty");
  return steps;
}

const Json* ObjectCondition::Follow(const Json& object, const std::vector<Step>& path) {
  const Json* at = &object;
  for (const Step& step : path) {
    if (const auto* member = std::get_if<Member>(&step)) {
      at = api::Find(*at, member->name);
    } else if (const auto* index = std::get_if<Index>(&step)) {
      at = at->is_array() && index->at < at->size() ? &(*at)[index->at] : nullptr;
    } else {
      const auto& filter = std::get<Filter>(step);
      const Json* found = nullptr;
      for (const Json& item : at->is_array() ? *at : api::EmptyList()) {
        const Json* value = api::Find(item, filter.name);
        if (found == nullptr && value != nullptr && Printed(*value) == filter.value) found = &item;
      }
      at = found;
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

bool ObjectCondition::Holds(const Json* object) const {
  if (kind_ == Kind::kDelete) return object == nullptr;
  if (object == nullptr) return false;
  if (kind_ == Kind::kCreate) return true;
  if (kind_ == Kind::kCondition) {
    for (const Json& condition : api::ListAt(*object, "status", "conditions"))
      if (EqualFold(api::StringAt(condition, "type"), name_)) return EqualFold(api::StringAt(condition, "status"), value_);
    return false;
  }
  const Json* value = Follow(*object, path_);
  return value != nullptr && (any_value_ || Printed(*value) == value_);
}

}  // namespace terrarium::testbed
