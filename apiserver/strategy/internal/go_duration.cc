#include "apiserver/strategy/internal/go_duration.h"

#include <array>
#include <utility>

#include "api/base/field_error.h"

namespace terrarium::apiserver::strategy {
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

std::string GoDurationError(std::string_view text) {
  const std::string quoted = api::Quote(text);
  const std::string invalid = "time: invalid duration " + quoted;
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return "";
  if (rest.empty()) return invalid;
  double total = 0;
  while (!rest.empty()) {
    std::size_t digits = 0;
    const double value = TakeDigits(&rest, &digits);
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      TakeDigits(&rest, &digits);
    }
    if (digits == 0) return invalid;
    std::size_t length = 0;
    while (length < rest.size() && rest[length] != '.' && !IsDigit(rest[length])) ++length;
    if (length == 0) return "time: missing unit in duration " + quoted;
    const std::string_view unit = rest.substr(0, length);
    double scale = 0;
    for (const auto& [name, nanoseconds] : kUnits) {
      if (name == unit) scale = nanoseconds;
    }
    if (scale == 0) return "time: unknown unit " + api::Quote(unit) + " in duration " + quoted;
    total += value * scale;
    if (total > kMaxNanoseconds) return invalid;
    rest.remove_prefix(length);
  }
  return "";
}

}  // namespace terrarium::apiserver::strategy
