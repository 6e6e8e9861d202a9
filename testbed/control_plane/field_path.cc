#include "testbed/control_plane/field_path.h"

#include <charconv>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"

namespace terrarium::testbed {

using api::Json;
using api::Result;

std::string PrintedValue(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string_view Unquoted(std::string_view text) {
  bool quoted =
      text.size() >= 2 && text.front() == text.back() && (text.front() == '\'' || text.front() == '"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

Result<FieldPath::Step> FieldPath::ParseBracket(std::string_view inside) {
  std::size_t index = 0;
  auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (error == std::errc() && end == inside.data() + inside.size()) return Step(Index{index});
  if (std::string_view name = Unquoted(inside); name.size() < inside.size() && !name.empty())
    return Step(Member{std::string(name)});
  constexpr std::string_view kOpen = "?(@.";
  std::size_t equals = inside.find("==");
  if (!inside.starts_with(kOpen) || !inside.ends_with(')') || equals == std::string_view::npos)
    return api::BadRequest("brackets hold an index, \"a name\" or ?(@.name==\"value\")");
  std::string_view value = inside.substr(equals + 2, inside.size() - equals - 3);
  return Step(
      Filter{std::string(inside.substr(kOpen.size(), equals - kOpen.size())), std::string(Unquoted(value))});
}

Result<FieldPath> FieldPath::Parse(std::string_view text) {
  FieldPath path;
  bool first = true;
  while (!text.empty()) {
    if (text.front() == '[') {
      // A quoted name may hold a bracket.
      char quote = text.size() > 1 && (text[1] == '"' || text[1] == '\'') ? text[1] : '\0';
      std::size_t end = quote == '\0' ? text.find(']') : text.find(std::string{quote, ']'});
      if (end == std::string_view::npos) return api::BadRequest("a bracket is not closed");
      if (quote != '\0') ++end;
      auto step = ParseBracket(text.substr(1, end - 1));
      if (!step) return step.status();
      path.steps_.push_back(std::move(*step));
      text.remove_prefix(end + 1);
    } else {
      if (text.front() == '.')
        text.remove_prefix(1);
      else if (!first)
        return api::BadRequest("a member begins with a dot");
      std::string_view name = text.substr(0, text.find_first_of(".["));
      if (name.empty()) return api::BadRequest("a member has no name");
      path.steps_.emplace_back(Member{std::string(name)});
      text.remove_prefix(name.size());
    }
    first = false;
  }
  if (path.steps_.empty()) return api::BadRequest("the path is empty");
  return path;
}

const Json* FieldPath::Follow(const Json& at, const Step& step) {
  if (const auto* member = std::get_if<Member>(&step)) return api::Find(at, member->name);
  if (const auto* index = std::get_if<Index>(&step))
    return at.is_array() && index->at < at.size() ? &at[index->at] : nullptr;
  const auto& filter = std::get<Filter>(step);
  for (const Json& item : at.is_array() ? at : api::EmptyList()) {
    const Json* value = api::Find(item, filter.name);
    if (value != nullptr && PrintedValue(*value) == filter.value) return &item;
  }
  return nullptr;
}

const Json* FieldPath::Find(const Json& object) const {
  const Json* at = &object;
  for (const Step& step : steps_)
    if ((at = Follow(*at, step)) == nullptr) return nullptr;
  return at;
}

}  // namespace terrarium::testbed
