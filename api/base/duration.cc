#include "api/base/duration.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "api/base/field_error.h"

namespace terrarium::api {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 8> kUnits = {{{"ns", 1},
                                                                        {"us", 1e3},
                                                                        {"\u00b5s", 1e3},
                                                                        {"\u03bcs", 1e3},
                                                                        {"ms", 1e6},
                                                                        {"s", 1e9},
                                                                        {"m", 60e9},
                                                                        {"h", 3600e9}}};
constexpr double kMaxNanoseconds = 9.2233720368547758e18;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits off the front of *text; the value is exact enough to see an overflow.
double TakeDigits(std::string_view* text, std::size_t* count) {
  double value = 0;
  while (!text->empty() && IsDigit(text->front())) {
    value = value * 10 + (text->front() - '0');
    text->remove_prefix(1);
    ++*count;
  }
  return value;
}

}  // namespace

ParsedDuration ParseDuration(std::string_view text) {
  const std::string quoted = Quote(text);
  const std::string invalid = "time: invalid duration " + quoted;
  auto failed = [](std::string error) { return ParsedDuration{{}, std::move(error)}; };
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return {};
  if (rest.empty()) return failed(invalid);
  double total = 0;
  while (!rest.empty()) {
    std::size_t digits = 0;
    double value = TakeDigits(&rest, &digits);
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      std::size_t places = 0;
      value += TakeDigits(&rest, &places) / std::pow(10, places);
      digits += places;
    }
    if (digits == 0) return failed(invalid);
    std::size_t length = 0;
    while (length < rest.size() && rest[length] != '.' && !IsDigit(rest[length])) ++length;
    if (length == 0) return failed("time: missing unit in duration " + quoted);
    const std::string_view unit = rest.substr(0, length);
    double scale = 0;
    for (const auto& [name, nanoseconds] : kUnits)
      if (name == unit) scale = nanoseconds;
    if (scale == 0) return failed("time: unknown unit " + Quote(unit) + " in duration " + quoted);
    total += value * scale;
    if (total > kMaxNanoseconds) return failed(invalid);
    rest.remove_prefix(length);
  }
  // Nearest microsecond: 0.1s is not a hair less than 100 ms.
  const auto microseconds = static_cast<std::int64_t>(std::llround(total / 1e3));
  return {Duration(negative ? -microseconds : microseconds), ""};
}

namespace {

// "1.5" of 1500 thousandths: the digits without needless zeros.
std::string Fraction(std::int64_t value, std::int64_t unit) {
  std::string out = std::to_string(value / unit);
  std::string digits = std::to_string(unit + value % unit).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits.empty() ? out : out + "." + digits;
}

}  // namespace

std::string FormatDuration(Duration duration) {
  std::int64_t left = duration.count();
  if (left == 0) return "0s";
  const std::string sign = left < 0 ? "-" : "";
  left = left < 0 ? -left : left;
  if (left < 1'000) return sign + std::to_string(left) + "\u00b5s";
  if (left < 1'000'000) return sign + Fraction(left, 1'000) + "ms";
  constexpr std::int64_t kMinute = 60'000'000, kHour = 60 * kMinute;
  std::string out = sign;
  if (left >= kHour) out += std::to_string(left / kHour) + "h";
  if (left >= kMinute) out += std::to_string(left % kHour / kMinute) + "m";
  return out + Fraction(left % kMinute, 1'000'000) + "s";
}

}  // namespace terrarium::api
