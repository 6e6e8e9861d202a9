// Formats that need a field's path for their errors: domain-prefixed paths, numbers or percentages, ports.

#include <algorithm>

#include "apiserver/validation/formats.h"

namespace terrarium::apiserver {
namespace {

using api::FieldErrors;
using api::Json;
using api::Path;

constexpr std::string_view kHttpPathFormat = R"([A-Za-z0-9/\-._~%!$&'()*+,;=:]+)";
constexpr std::string_view kHttpPathMarks = "/-._~%!$&'()*+,;=:";

bool IsHttpPathCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kHttpPathMarks.find(c) != std::string_view::npos;
}

// Digits that do not fit count as very many, as no percentage that long is below any limit.
std::int64_t PercentOf(std::string_view text) {
  std::int64_t value = 0;
  for (const char c : text.substr(0, text.size() - 1)) {
    value = std::min<std::int64_t>(value * 10 + (c - '0'), 1'000'000'000);
  }
  return value;
}

}  // namespace

FieldErrors IsDomainPrefixedPath(std::string_view text, const Path& path) {
  if (text.empty()) return {api::RequiredError(path)};
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return {api::InvalidError(path, text, "must be a domain-prefixed path (such as \"acme.io/foo\")")};
  }
  FieldErrors errors;
  const std::string_view host = text.substr(0, slash);
  const std::string_view rest = text.substr(slash + 1);
  for (const std::string& message : IsDns1123Subdomain(host))
    errors.push_back(api::InvalidError(path, host, message));
  if (!std::all_of(rest.begin(), rest.end(), IsHttpPathCharacter)) {
    errors.push_back(api::InvalidError(path, rest, RegexMessage("Invalid path", kHttpPathFormat)));
  }
  return errors;
}

FieldErrors ValidatePositiveIntOrPercent(const Json& value, const Path& path) {
  FieldErrors errors;
  if (value.is_string()) {
    for (const std::string& message : IsValidPercent(value.get_ref<const std::string&>())) {
      errors.push_back(api::InvalidError(path, value, message));
    }
  } else if (value.is_number_integer() && value.get<std::int64_t>() < 0) {
    errors.push_back(api::InvalidError(path, value, "must be greater than or equal to 0"));
  }
  return errors;
}

FieldErrors IsNotMoreThan100Percent(const Json& value, const Path& path) {
  if (!value.is_string()) return {};
  const std::string& text = value.get_ref<const std::string&>();
  if (!IsValidPercent(text).empty() || PercentOf(text) <= 100) return {};
  return {api::InvalidError(path, value, "must not be greater than 100%")};
}

FieldErrors ValidatePortNumOrName(const Json& port, const Path& path) {
  FieldErrors errors;
  const Messages messages = port.is_string()
                                ? IsValidPortName(port.get_ref<const std::string&>())
                                : IsValidPortNum(port.is_number_integer() ? port.get<std::int64_t>() : 0);
  const Json value = port.is_null() ? Json(0) : port;
  for (const std::string& message : messages) errors.push_back(api::InvalidError(path, value, message));
  return errors;
}

}  // namespace terrarium::apiserver
