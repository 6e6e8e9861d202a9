#include "api/codec/go_words.h"

#include <cstdio>

namespace terrarium::api {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

struct TimeElement {
  std::string_view layout;  // digits stand for digits, anything else for itself
  const char* range_name;   // for "month out of range"; nullptr when the value needs no check
  int low, high;
};

constexpr TimeElement kTimeElements[] = {
    {"2006", nullptr, 0, 9999}, {"-", nullptr, 0, 0}, {"01", "month", 1, 12},  {"-", nullptr, 0, 0},
    {"02", nullptr, 0, 0},      {"T", nullptr, 0, 0}, {"15", "hour", 0, 23},   {":", nullptr, 0, 0},
    {"04", "minute", 0, 59},    {":", nullptr, 0, 0}, {"05", "second", 0, 59},
};

// Consumes one element from *rest; false when it does not match.
bool Consume(const TimeElement& element, std::string_view* rest, int* number) {
  if (rest->size() < element.layout.size()) return false;
  *number = 0;
  for (std::size_t i = 0; i < element.layout.size(); ++i) {
    const char c = (*rest)[i];
    if (IsDigit(element.layout[i]) ? !IsDigit(c) : c != element.layout[i]) return false;
    if (IsDigit(c)) *number = *number * 10 + (c - '0');
  }
  rest->remove_prefix(element.layout.size());
  return true;
}

// Length of the fraction at the start of `rest`, or npos when it is not one that the layout allows.
std::size_t FractionLength(std::string_view rest, bool micro) {
  std::size_t n = 0;
  if (!rest.empty() && (rest[0] == '.' || (!micro && rest[0] == ','))) {
    n = 1;
    while (n < rest.size() && IsDigit(rest[n])) ++n;
  }
  if (micro) return n == 7 ? n : std::string_view::npos;
  return n == 1 ? 0 : n;
}

std::size_t ZoneLength(std::string_view rest) {
  if (rest.starts_with("Z")) return 1;
  if (rest.size() < 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':') return std::string_view::npos;
  for (std::size_t i : {1, 2, 4, 5}) {
    if (!IsDigit(rest[i])) return std::string_view::npos;
  }
  return 6;
}

bool LeapYear(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysIn(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && LeapYear(year) ? 29 : kDays[month - 1];
}

}  // namespace

std::string GoKind(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object: return "object";
    case Json::value_t::array: return "array";
    case Json::value_t::string: return "string";
    case Json::value_t::boolean: return "bool";
    case Json::value_t::null: return "null";
    default: return "number";
  }
}

std::string GoNumber(const Json& value) {
  std::string text = value.dump();
  if (value.is_number_float() && text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string GoQuote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '\t') {
      out.append("\\t");
    } else if (c == '\r') {
      out.append("\\r");
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      out.append(escaped);
    } else {
      out.push_back(c);
    }
  }
  return out.append("\"");
}

std::string GoTimeError(std::string_view text, bool micro) {
  const std::string layout = micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  const std::string start = "parsing time " + GoQuote(text);
  const auto cannot = [&](std::string_view rest, std::string_view element) {
    return start + " as \"" + layout + "\": cannot parse " + GoQuote(rest) + " as \"" + std::string(element) +
           "\"";
  };
  std::string_view rest = text;
  int year = 0, month = 0, day = 0, number = 0;
  for (const TimeElement& element : kTimeElements) {
    if (!Consume(element, &rest, &number)) return cannot(rest, element.layout);
    if (element.layout == "2006") year = number;
    if (element.layout == "01") month = number;
    if (element.layout == "02") day = number;
    if (element.range_name != nullptr && (number < element.low || number > element.high)) {
      return start + ": " + element.range_name + " out of range";
    }
  }
  const std::size_t fraction = FractionLength(rest, micro);
  if (fraction == std::string_view::npos) return cannot(rest, ".000000");
  rest.remove_prefix(fraction);
  const std::size_t zone = ZoneLength(rest);
  if (zone == std::string_view::npos) return cannot(rest, "Z07:00");
  rest.remove_prefix(zone);
  if (!rest.empty()) return start + ": extra text: " + GoQuote(rest);
  return day < 1 || day > DaysIn(year, month) ? start + ": day out of range" : "";
}

}  // namespace terrarium::api
