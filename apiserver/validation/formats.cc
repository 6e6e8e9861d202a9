#include "apiserver/validation/formats.h"

#include <algorithm>

#include "api/selector/label_syntax.h"

namespace terrarium::apiserver {
namespace {

constexpr std::string_view kLabelFormat = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kSubdomainFormat =
    R"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)";
constexpr std::string_view kUnderscoreSubdomainFormat =
    R"(_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*)";

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLowerAlnum(char c) { return IsLower(c) || IsDigit(c); }
bool IsAlnum(char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); }

bool All(std::string_view text, bool (*allowed)(char)) {
  return std::all_of(text.begin(), text.end(), allowed);
}

bool MatchesDnsLabel(std::string_view text) {
  return !text.empty() && IsLowerAlnum(text.front()) && IsLowerAlnum(text.back()) &&
         All(text, [](char c) { return IsLowerAlnum(c) || c == '-'; });
}

bool MatchesUnderscoreLabel(std::string_view text) {
  if (!text.empty() && text.front() == '_') text.remove_prefix(1);
  return !text.empty() && IsLowerAlnum(text.front()) && IsLowerAlnum(text.back()) &&
         All(text, [](char c) { return IsLowerAlnum(c) || c == '-' || c == '_'; });
}

bool EveryDottedPart(std::string_view text, bool (*matches)(std::string_view)) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!matches(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string RegexMessage(std::string_view what, std::string_view format,
                         const std::vector<std::string_view>& examples) {
  std::string out(what);
  out += " (";
  for (std::size_t i = 0; i < examples.size(); ++i) {
    out.append(i == 0 ? "e.g. '" : " or '").append(examples[i]).append("', ");
  }
  return out.append("regex used for validation is '").append(format).append("')");
}

std::string MaxLengthMessage(int length) {
  return "must be no more than " + std::to_string(length) + " characters";
}

std::string RangeMessage(std::int64_t lowest, std::int64_t highest) {
  return "must be between " + std::to_string(lowest) + " and " + std::to_string(highest) + ", inclusive";
}

Messages IsDns1123Label(std::string_view text) {
  Messages out;
  if (text.size() > 63) out.push_back(MaxLengthMessage(63));
  if (!MatchesDnsLabel(text)) {
    out.push_back(
        EveryDottedPart(text, MatchesDnsLabel)
            ? "must not contain dots"
            : RegexMessage("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
                           "'-', and must start and end with an alphanumeric character",
                           kLabelFormat, {"my-name", "123-abc"}));
  }
  return out;
}

Messages IsDns1123Subdomain(std::string_view text) {
  Messages out;
  if (text.size() > 253) out.push_back(MaxLengthMessage(253));
  if (!EveryDottedPart(text, MatchesDnsLabel)) {
    out.push_back(
        RegexMessage("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
                     "or '.', and must start and end with an alphanumeric character",
                     kSubdomainFormat, {"example.com"}));
  }
  return out;
}

Messages IsDns1123SubdomainWithUnderscore(std::string_view text) {
  Messages out;
  if (text.size() > 253) out.push_back(MaxLengthMessage(253));
  if (!EveryDottedPart(text, MatchesUnderscoreLabel)) {
    out.push_back(
        RegexMessage("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
                     "'_', '-' or '.', and must start and end with an alphanumeric character",
                     kUnderscoreSubdomainFormat, {"example.com"}));
  }
  return out;
}

Messages IsDns1035Label(std::string_view text) {
  Messages out;
  if (text.size() > 63) out.push_back(MaxLengthMessage(63));
  if (!MatchesDnsLabel(text) || !IsLower(text.front())) {
    out.push_back(
        RegexMessage("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
                     "an alphabetic character, and end with an alphanumeric character",
                     "[a-z]([-a-z0-9]*[a-z0-9])?", {"my-name", "abc-123"}));
  }
  return out;
}

Messages IsQualifiedName(std::string_view text) { return api::LabelKeyErrors(text); }

Messages IsValidLabelValue(std::string_view text) { return api::LabelValueErrors(text); }

Messages IsValidPathSegmentName(std::string_view text) {
  if (text == "." || text == "..") return {"may not be '" + std::string(text) + "'"};
  Messages out;
  if (text.find('/') != std::string_view::npos) out.push_back("may not contain '/'");
  if (text.find('%') != std::string_view::npos) out.push_back("may not contain '%'");
  return out;
}

Messages IsValidPortName(std::string_view text) {
  Messages out;
  if (text.size() > 15) out.push_back(MaxLengthMessage(15));
  if (text.empty() || !All(text, [](char c) { return IsLowerAlnum(c) || c == '-'; })) {
    out.push_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!std::any_of(text.begin(), text.end(), IsLower))
    out.push_back("must contain at least one letter (a-z)");
  if (text.find("--") != std::string_view::npos) out.push_back("must not contain consecutive hyphens");
  if (!text.empty() && (text.front() == '-' || text.back() == '-')) {
    out.push_back("must not begin or end with a hyphen");
  }
  return out;
}

Messages IsInRange(std::int64_t value, std::int64_t lowest, std::int64_t highest) {
  if (value >= lowest && value <= highest) return {};
  return {RangeMessage(lowest, highest)};
}

Messages IsValidPortNum(std::int64_t port) { return IsInRange(port, 1, 65535); }

Messages IsValidUserOrGroupId(std::int64_t id) { return IsInRange(id, 0, 2147483647); }

Messages IsEnvVarName(std::string_view text) {
  if (text.empty()) return {"environment variable name must be non-empty"};
  if (All(text, [](char c) { return c >= ' ' && c <= '~' && c != '='; })) return {};
  return {"a valid environment variable name must consist only of printable ASCII characters other than '='"};
}

Messages IsCIdentifier(std::string_view text) {
  if (!text.empty() && !IsDigit(text.front()) && All(text, [](char c) { return IsAlnum(c) || c == '_'; }))
    return {};
  return {RegexMessage(
      "a valid C identifier must start with alphabetic character or '_', followed by a string of "
      "alphanumeric characters or '_'",
      "[A-Za-z_][A-Za-z0-9_]*", {"my_name", "MY_NAME", "MyName"})};
}

Messages IsConfigMapKey(std::string_view text) {
  Messages out;
  if (text.size() > 253) out.push_back(MaxLengthMessage(253));
  if (text.empty() || !All(text, [](char c) { return IsAlnum(c) || c == '-' || c == '.' || c == '_'; })) {
    out.push_back(RegexMessage("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                               "[-._a-zA-Z0-9]+", {"key.name", "KEY_NAME", "key-name"}));
  }
  if (text == "." || text == "..") {
    out.push_back("must not be '" + std::string(text) + "'");
  } else if (text.starts_with("..")) {
    out.push_back("must not start with '..'");
  }
  return out;
}

Messages IsHttpHeaderName(std::string_view text) {
  if (!text.empty() && All(text, [](char c) { return IsAlnum(c) || c == '-'; })) return {};
  return {RegexMessage("a valid HTTP header must consist of alphanumeric characters or '-'", "[-A-Za-z0-9]+",
                       {"X-Header-Name"})};
}

Messages IsValidPercent(std::string_view text) {
  if (text.size() > 1 && text.back() == '%' && All(text.substr(0, text.size() - 1), IsDigit)) return {};
  return {RegexMessage("a valid percent string must be a numeric string followed by an ending '%'", "[0-9]+%",
                       {"1%", "93%"})};
}

}  // namespace terrarium::apiserver
