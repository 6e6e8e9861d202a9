#include "api/codec/internal/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace terrarium::api {
namespace {

constexpr std::string_view kTrue[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                      "True", "TRUE", "on",  "On",  "ON"};
constexpr std::string_view kFalse[] = {"n",     "N",     "no",  "No",  "NO", "false",
                                       "False", "FALSE", "off", "Off", "OFF"};
constexpr std::string_view kNulls[] = {"", "~", "null", "Null", "NULL"};
constexpr std::string_view kNotNumbers[] = {".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",  ".INF",
                                            "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"};

template <std::size_t N>
bool OneOf(const std::string_view (&words)[N], std::string_view text) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Go's base 0: 0x, 0o and 0b prefixes, and a leading zero for octal.
std::optional<Json> Integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    text.remove_prefix(letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  if (negative)
    return value <= kLimit ? std::optional<Json>(static_cast<std::int64_t>(~value + 1)) : std::nullopt;
  return value < kLimit ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

// ^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$
bool LooksLikeFloat(std::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    return i > from;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (!digits()) return false;
  } else {
    if (!digits()) return false;
    if (i < text.size() && text[i] == '.') {
      ++i;
      digits();
    }
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (!digits()) return false;
  }
  return i == text.size();
}

std::optional<Json> Float(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // Go writes a whole float without a fraction, and its reader then takes it for an integer.
  if (std::abs(value) < 9.2e18 && value == std::floor(value)) return Json(static_cast<std::int64_t>(value));
  return Json(value);
}

}  // namespace

std::optional<Json> ResolveYamlScalar(std::string_view text) {
  if (OneOf(kNulls, text)) return Json();
  if (OneOf(kTrue, text)) return Json(true);
  if (OneOf(kFalse, text)) return Json(false);
  if (OneOf(kNotNumbers, text)) return std::nullopt;
  const char first = text[0];
  if (!IsDigit(first) && first != '-' && first != '+' && first != '.') return Json(std::string(text));
  // Dates begin with four digits and a dash, which no number does, so they fall through to text by
  // themselves.
  std::string plain;
  std::copy_if(text.begin(), text.end(), std::back_inserter(plain), [](char c) { return c != '_'; });
  if (first != '.') {
    if (auto integer = Integer(plain)) return integer;
  }
  if (auto number = Float(first == '.' ? text : std::string_view(plain))) return number;
  return Json(std::string(text));
}

std::optional<std::string> YamlKey(const Json& key) {
  switch (key.type()) {
    case Json::value_t::string:
      return key.get<std::string>();
    case Json::value_t::boolean:
      return key.get<bool>() ? "true" : "false";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return key.dump();
    case Json::value_t::number_float: {
      char text[32];
      std::snprintf(text, sizeof text, "%.9g", key.get<double>());
      return text;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace terrarium::api
