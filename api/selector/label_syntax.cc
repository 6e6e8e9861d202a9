#include "api/selector/label_syntax.h"

#include <algorithm>
#include <cstddef>

namespace terrarium::api {
namespace {

constexpr std::size_t kNameBytesMax = 63;
constexpr std::size_t kPrefixBytesMax = 253;

constexpr std::string_view kTooLongName = "must be no more than 63 bytes";
constexpr std::string_view kTooLongPrefix = "must be no more than 253 bytes";
constexpr std::string_view kEmpty = "must be non-empty";
constexpr std::string_view kNameShape =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kPrefixShape =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kValueShape =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlphanumeric(char c) { return IsLower(c) || IsDigit(c) || (c >= 'A' && c <= 'Z'); }
bool IsLowerAlphanumeric(char c) { return IsLower(c) || IsDigit(c); }

bool IsName(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsDnsLabel(std::string_view text) {
  return !text.empty() && IsLowerAlphanumeric(text.front()) && IsLowerAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlphanumeric(c) || c == '-'; });
}

bool IsDnsSubdomain(std::string_view text) {
  for (;;) {
    std::size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string PartMessage(std::string_view part, std::string_view message) {
  return std::string(part).append(" part ").append(message);
}

}  // namespace

std::vector<std::string> LabelKeyErrors(std::string_view key) {
  std::vector<std::string> errors;
  std::size_t slash = key.find('/');
  std::string_view name = key;
  if (slash != std::string_view::npos) {
    std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {std::string("a valid label key ")
                  .append(kNameShape)
                  .append(" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")};
    }
    if (prefix.empty()) {
      errors.push_back(PartMessage("prefix", kEmpty));
    } else {
      if (prefix.size() > kPrefixBytesMax) errors.push_back(PartMessage("prefix", kTooLongPrefix));
      if (!IsDnsSubdomain(prefix)) errors.push_back(PartMessage("prefix", kPrefixShape));
    }
  }
  if (name.empty()) errors.push_back(PartMessage("name", kEmpty));
  if (name.size() > kNameBytesMax) errors.push_back(PartMessage("name", kTooLongName));
  if (!IsName(name)) errors.push_back(PartMessage("name", kNameShape));
  return errors;
}

std::vector<std::string> LabelValueErrors(std::string_view value) {
  std::vector<std::string> errors;
  if (value.size() > kNameBytesMax) errors.emplace_back(kTooLongName);
  if (!value.empty() && !IsName(value)) errors.emplace_back(kValueShape);
  return errors;
}

}  // namespace terrarium::api
