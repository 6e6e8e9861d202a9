#include "api/codec/internal/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "api/base/base64.h"
#include "api/codec/internal/utf8.h"

namespace terrarium::api {
namespace {

constexpr std::string_view kTrue[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                      "True", "TRUE", "on",  "On",  "ON"};
constexpr std::string_view kFalse[] = {"n",     "N",     "no",  "No",  "NO", "false",
                                       "False", "FALSE", "off", "Off", "OFF"};
constexpr std::string_view kNulls[] = {"~", "null", "Null", "NULL"};
constexpr std::string_view kNotANumber[] = {".nan", ".NaN", ".NAN"};
constexpr std::string_view kInfinity[] = {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"};
constexpr std::string_view kMinusInfinity[] = {"-.inf", "-.Inf", "-.INF"};
constexpr std::size_t kWordSizeMax = 5;
constexpr std::string_view kFirstOfWords = "yYnNtTfFoO~";
constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

template <std::size_t N>
bool OneOf(const std::string_view (&words)[N], std::string_view text) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<YamlScalar> Word(std::string_view text) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (text.size() > kWordSizeMax) return std::nullopt;
  if (OneOf(kNulls, text)) return YamlScalar{YamlType::kNull, {}};
  if (OneOf(kTrue, text)) return YamlScalar{YamlType::kBool, true};
  if (OneOf(kFalse, text)) return YamlScalar{YamlType::kBool, false};
  if (OneOf(kNotANumber, text)) return YamlScalar{YamlType::kFloat, std::nan("")};
  if (OneOf(kInfinity, text)) return YamlScalar{YamlType::kFloat, kInf};
  if (OneOf(kMinusInfinity, text)) return YamlScalar{YamlType::kFloat, -kInf};
  return std::nullopt;
}

std::optional<Json> Signed(std::uint64_t value, bool negative) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  if (negative)
    return value <= kLimit ? std::optional<Json>(static_cast<std::int64_t>(~value + 1)) : std::nullopt;
  return value < kLimit ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

std::optional<std::uint64_t> Digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Go's base 0: 0x, 0o and 0b prefixes, and a leading zero for octal.
std::optional<Json> Integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  const bool positive = text.starts_with('+');
  if (negative || positive) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    text.remove_prefix(letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
  }
  const std::optional<std::uint64_t> value = Digits(text, base);
  std::optional<Json> integer = value ? Signed(*value, negative) : std::nullopt;
  // An integer beyond int64 has no sign in Go.
  if (integer && positive && integer->is_number_unsigned()) return std::nullopt;
  return integer;
}

// Binary digits with the sign behind the prefix, which go-yaml reads as well.
std::optional<Json> SignedBinary(std::string_view text) {
  if (!text.starts_with("0b-") && !text.starts_with("0b+")) return std::nullopt;
  const std::optional<std::uint64_t> value = Digits(text.substr(3), 2);
  return value ? Signed(*value, text[2] == '-') : std::nullopt;
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
  if (error == std::errc::result_out_of_range) {
    // from_chars reports the same error for a number that is too large, which is text, and for one that is
    // nearly zero.
    value = std::strtod(std::string(text).c_str(), nullptr);
    return std::isinf(value) ? std::nullopt : std::optional<Json>(value);
  }
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Json(value);
}

std::string WithoutUnderscores(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out), [](char c) { return c != '_'; });
  return out;
}

// Whether underscores only separate digits, as in Go's numbers.
bool HasGoUnderscores(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    if (i == 0 || i + 1 == text.size() || !IsDigit(text[i - 1]) || !IsDigit(text[i + 1])) return false;
  }
  return true;
}

// Dates begin with four digits and a dash, which no number does, so they are text.
YamlScalar Number(std::string_view text) {
  const bool begins_with_point = text[0] == '.';
  std::string without_underscores;
  std::string_view plain = text;
  if (text.find('_') != std::string_view::npos) {
    if (begins_with_point && !HasGoUnderscores(text)) return {};
    without_underscores = WithoutUnderscores(text);
    plain = without_underscores;
  }
  if (begins_with_point) {
    auto number = Float(plain);
    return number ? YamlScalar{YamlType::kFloat, std::move(*number)} : YamlScalar{};
  }
  if (auto integer = Integer(plain)) return {YamlType::kInt, std::move(*integer)};
  if (auto number = Float(plain)) return {YamlType::kFloat, std::move(*number)};
  if (auto integer = SignedBinary(plain)) return {YamlType::kInt, std::move(*integer)};
  return {};
}

// Reads a number of `min` to `max` digits that is at most `limit`.
bool TakeNumber(std::string_view& text, std::size_t min, std::size_t max, int limit, int* value) {
  std::size_t size = 0;
  *value = 0;
  while (size < max && size < text.size() && IsDigit(text[size])) *value = *value * 10 + (text[size++] - '0');
  text.remove_prefix(size);
  return size >= min && *value <= limit;
}

bool Take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool TakeDate(std::string_view& text) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int year = 0, month = 0, day = 0;
  if (!TakeNumber(text, 4, 4, 9999, &year) || !Take(text, '-') || !TakeNumber(text, 1, 2, 12, &month) ||
      !Take(text, '-') || !TakeNumber(text, 1, 2, 31, &day))
    return false;
  if (month == 0 || day == 0) return false;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

bool TakeTime(std::string_view& text) {
  int value = 0;
  if (!TakeNumber(text, 1, 2, 23, &value) || !Take(text, ':') || !TakeNumber(text, 1, 2, 59, &value) ||
      !Take(text, ':') || !TakeNumber(text, 1, 2, 59, &value))
    return false;
  if (text.size() < 2 || (text[0] != '.' && text[0] != ',') || !IsDigit(text[1])) return true;
  text.remove_prefix(1);
  while (!text.empty() && IsDigit(text[0])) text.remove_prefix(1);
  return true;
}

bool TakeZone(std::string_view& text) {
  if (Take(text, 'Z')) return true;
  int value = 0;
  return (Take(text, '+') || Take(text, '-')) && TakeNumber(text, 2, 2, 24, &value) && Take(text, ':') &&
         TakeNumber(text, 2, 2, 60, &value);
}

// A date, a date and a time with a zone, or the two with a space between them and no zone.
bool IsTimestamp(std::string_view text) {
  if (!TakeDate(text)) return false;
  if (text.empty()) return true;
  if (Take(text, ' ')) {
    while (Take(text, ' ')) continue;  // Go lets a space of the layout stand for several
    return TakeTime(text) && text.empty();
  }
  return (Take(text, 'T') || Take(text, 't')) && TakeTime(text) && TakeZone(text) && text.empty();
}

std::string_view TagOf(YamlType type) {
  switch (type) {
    case YamlType::kNull: return "!!null";
    case YamlType::kBool: return "!!bool";
    case YamlType::kInt: return "!!int";
    case YamlType::kFloat: return "!!float";
    case YamlType::kTimestamp: return "!!timestamp";
    case YamlType::kString: break;
  }
  return "!!str";
}

std::optional<YamlType> TypeOf(std::string_view tag) {
  for (const YamlType type :
       {YamlType::kNull, YamlType::kBool, YamlType::kInt, YamlType::kFloat, YamlType::kTimestamp}) {
    if (tag.starts_with(kTagPrefix) && tag.substr(kTagPrefix.size()) == TagOf(type).substr(2)) return type;
  }
  return std::nullopt;
}

std::optional<YamlScalar> Binary(std::string_view text, std::string* error) {
  std::string bytes;
  if (DecodeBase64(text, &bytes)) return YamlScalar{YamlType::kString, ValidUtf8(bytes)};
  *error = "!!binary value contains invalid base64 data";
  return std::nullopt;
}

// strconv.FormatFloat(value, 'g', -1, 32), with YAML's words for values that are not finite.
std::string FloatKey(double value) {
  if (std::isnan(value)) return ".nan";
  const bool is_too_large = std::abs(value) > static_cast<double>(std::numeric_limits<float>::max());
  if (is_too_large) return value > 0 ? ".inf" : "-.inf";
  const auto narrow = static_cast<float>(value);
  char text[64];
  char* end = std::to_chars(text, text + sizeof text, narrow, std::chars_format::scientific).ptr;
  const std::string_view scientific(text, static_cast<std::size_t>(end - text));
  const int exponent = std::atoi(std::string(scientific.substr(scientific.find('e') + 1)).c_str());
  constexpr int kPlainMin = -4, kPlainMax = 5;
  if (exponent < kPlainMin || exponent > kPlainMax) return std::string(scientific);
  end = std::to_chars(text, text + sizeof text, narrow, std::chars_format::fixed).ptr;
  return std::string(text, end);
}

}  // namespace

YamlScalar ResolveYamlScalar(std::string_view text) {
  if (text.empty()) return {YamlType::kNull, {}};
  const char first = text[0];
  const bool number = IsDigit(first) || first == '-' || first == '+' || first == '.';
  if (!number && kFirstOfWords.find(first) == std::string_view::npos) return {};
  if (auto word = Word(text)) return std::move(*word);
  return number ? Number(text) : YamlScalar{};
}

std::optional<YamlScalar> ResolveTaggedYamlScalar(std::string_view tag, std::string_view text,
                                                  std::string* error) {
  if (tag.empty()) return ResolveYamlScalar(text);
  if (tag.starts_with(kTagPrefix) && tag.substr(kTagPrefix.size()) == "binary") return Binary(text, error);
  const std::optional<YamlType> wanted = TypeOf(tag);
  if (!wanted) return YamlScalar{};  // any text is a !!str; the other tags mean nothing to go-yaml
  YamlScalar scalar = ResolveYamlScalar(text);
  if (*wanted == YamlType::kTimestamp && IsTimestamp(text)) scalar = {YamlType::kTimestamp, {}};
  if (*wanted == YamlType::kFloat && scalar.type == YamlType::kInt && !scalar.value.is_number_unsigned())
    scalar = {YamlType::kFloat, scalar.value.get<double>()};
  if (scalar.type == *wanted) return scalar;
  error->assign("cannot decode ").append(TagOf(scalar.type)).append(" `").append(text);
  error->append("` as a ").append(TagOf(*wanted));
  return std::nullopt;
}

Json YamlScalarToJson(YamlScalar scalar, std::string_view text) {
  const bool is_text = scalar.type == YamlType::kString || scalar.type == YamlType::kTimestamp;
  if (is_text && scalar.value.is_null()) return Json(std::string(text));
  if (scalar.type != YamlType::kFloat) return std::move(scalar.value);
  const double value = scalar.value.get<double>();
  constexpr double kIntegerEnd = 9223372036854775808.0;  // the first that int64 cannot hold
  if (value >= -kIntegerEnd && value < kIntegerEnd && value == std::floor(value))
    return Json(static_cast<std::int64_t>(value));
  return std::move(scalar.value);
}

std::optional<std::string> YamlKey(const YamlScalar& scalar, std::string_view text) {
  switch (scalar.type) {
    case YamlType::kNull: return std::nullopt;
    case YamlType::kBool: return scalar.value.get<bool>() ? "true" : "false";
    case YamlType::kInt:
      return scalar.value.is_number_unsigned() ? std::nullopt
                                               : std::optional<std::string>(scalar.value.dump());
    case YamlType::kFloat: return FloatKey(scalar.value.get<double>());
    case YamlType::kString:
    case YamlType::kTimestamp: break;
  }
  return scalar.value.is_string() ? scalar.value.get<std::string>() : std::string(text);
}

}  // namespace terrarium::api
