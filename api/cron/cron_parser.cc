#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>
#include <vector>

#include "api/base/duration.h"
#include "api/base/field_error.h"
#include "api/cron/cron_schedule.h"

namespace terrarium::api {
namespace {

using Bits = CronSchedule::Bits;
using Fields = std::array<Bits, CronSchedule::kFields>;

struct Bounds {
  std::int64_t min;
  std::int64_t max;
  std::span<const std::string_view> names;  // of min, min + 1, ...
};

constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr Bounds kBounds[] = {{0, 59, {}}, {0, 23, {}}, {1, 31, {}}, {1, 12, kMonths}, {0, 6, kDays}};

// A value, or the words of an error.
template <typename T>
struct Read {
  T value{};
  std::string error;
};

template <typename T>
Read<T> Failed(std::string error) {
  return {{}, std::move(error)};
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// The length of the blank at the start of `text`, 0 if there is none. Go's blanks are Unicode's.
std::size_t BlankLength(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() == ' ' || (text.front() >= '\t' && text.front() <= '\r')) return 1;
  if (static_cast<unsigned char>(text.front()) < 0x80) return 0;
  for (std::string_view blank :
       {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
        "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"}) {
    if (text.starts_with(blank)) return blank.size();
  }
  return 0;
}

struct Word {
  std::size_t begin;
  std::size_t end;
};

std::vector<Word> FindWords(std::string_view text) {
  std::vector<Word> words;
  bool inside = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t blank = BlankLength(text.substr(i));
    if (blank == 0 && !inside) words.push_back({i, i});
    inside = blank == 0;
    i += inside ? 1 : blank;
    if (inside) words.back().end = i;
  }
  return words;
}

std::string_view Trim(std::string_view text) {
  const std::vector<Word> words = FindWords(text);
  if (words.empty()) return {};
  return text.substr(words.front().begin, words.back().end - words.front().begin);
}

// As strconv.Atoi reads it.
Read<std::int64_t> ReadNumber(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const bool syntax = !digits.empty() &&
                      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  std::int64_t value = 0;
  // The most negative number has no positive counterpart, so the sign is read with the digits.
  const std::string_view number = negative ? text : digits;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  if (!syntax || read.ec != std::errc()) {
    return Failed<std::int64_t>("failed to parse int from " + std::string(text) + ": strconv.Atoi: parsing " +
                                Quote(text) + ": " + (syntax ? "value out of range" : "invalid syntax"));
  }
  if (value < 0) {
    return Failed<std::int64_t>("negative number (" + std::to_string(value) +
                                ") not allowed: " + std::string(text));
  }
  return {value, ""};
}

Read<std::int64_t> ReadNumberOrName(std::string_view text, const Bounds& bounds) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const auto named = std::find(bounds.names.begin(), bounds.names.end(), lower);
  if (named == bounds.names.end()) return ReadNumber(text);
  return {bounds.min + (named - bounds.names.begin()), ""};
}

struct Range {
  std::int64_t first;
  std::int64_t last;
  std::int64_t step = 1;
  bool any = false;  // * or ?, without a step above 1
};

std::string RangeError(const Range& range, const Bounds& bounds) {
  const auto number = [](std::int64_t n) { return "(" + std::to_string(n) + ")"; };
  if (range.first < bounds.min)
    return "beginning of range " + number(range.first) + " below minimum " + number(bounds.min);
  if (range.last > bounds.max)
    return "end of range " + number(range.last) + " above maximum " + number(bounds.max);
  if (range.first > range.last)
    return "beginning of range " + number(range.first) + " beyond end of range " + number(range.last);
  if (range.step == 0) return "step of range should be a positive number";
  return "";
}

Bits BitsOf(const Range& range, const Bounds& bounds) {
  Bits bits = range.any ? CronSchedule::kAny : 0;
  // A step may be so large that it could not be added to a value.
  const std::int64_t step = std::min(range.step, bounds.max + 1);
  for (std::int64_t value = range.first; value <= range.last; value += step) bits |= Bits{1} << value;
  return bits;
}

// number | number "-" number [ "/" number ], with * and ? for the whole range.
Read<Bits> ReadRange(std::string_view expression, const Bounds& bounds) {
  const auto suffix = [expression] { return ": " + std::string(expression); };
  const auto range_and_step = Split(expression, '/');
  const auto ends = Split(range_and_step[0], '-');
  Range range{.first = bounds.min, .last = bounds.max};
  range.any = ends[0] == "*" || ends[0] == "?";
  if (!range.any) {
    const Read<std::int64_t> first = ReadNumberOrName(ends[0], bounds);
    if (!first.error.empty()) return Failed<Bits>(first.error);
    if (ends.size() > 2) return Failed<Bits>("too many hyphens" + suffix());
    const Read<std::int64_t> last = ends.size() == 2 ? ReadNumberOrName(ends[1], bounds) : first;
    if (!last.error.empty()) return Failed<Bits>(last.error);
    range.first = first.value;
    range.last = last.value;
  }
  if (range_and_step.size() > 2) return Failed<Bits>("too many slashes" + suffix());
  if (range_and_step.size() == 2) {
    const Read<std::int64_t> step = ReadNumber(range_and_step[1]);
    if (!step.error.empty()) return Failed<Bits>(step.error);
    range.step = step.value;
    if (ends.size() == 1) range.last = bounds.max;  // N/step means N-max/step
    if (range.step > 1) range.any = false;
  }
  const std::string error = RangeError(range, bounds);
  if (!error.empty()) return Failed<Bits>(error + suffix());
  return {BitsOf(range, bounds), ""};
}

Read<Fields> ReadFields(std::string_view text) {
  const std::vector<Word> words = FindWords(text);
  const auto word = [&](std::size_t i) { return text.substr(words[i].begin, words[i].end - words[i].begin); };
  if (words.size() != std::size(kBounds)) {
    std::string error = "expected exactly 5 fields, found " + std::to_string(words.size()) + ": [";
    for (std::size_t i = 0; i < words.size(); ++i) error.append(i == 0 ? "" : " ").append(word(i));
    return Failed<Fields>(error + "]");
  }
  Read<Fields> fields;
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::string_view expression : Split(word(i), ',')) {
      if (expression.empty()) continue;
      const Read<Bits> range = ReadRange(expression, kBounds[i]);
      if (!range.error.empty()) return Failed<Fields>(range.error);
      fields.value[i] |= range.value;
    }
  }
  return fields;
}

struct Descriptor {
  std::string_view name;
  std::string_view fields;
};
constexpr Descriptor kDescriptors[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

ParsedCronSchedule ParseEvery(std::string_view text, std::string_view duration) {
  ParsedDuration every = ParseDuration(duration);
  if (!every) return {std::nullopt, "failed to parse duration " + std::string(text) + ": " + every.error};
  return {CronSchedule(every.value), ""};
}

}  // namespace

ParsedCronSchedule ParseCronSchedule(std::string_view text) {
  if (text.empty()) return {std::nullopt, "empty spec string"};
  TimeZone zone;
  if (text.starts_with("TZ=") || text.starts_with("CRON_TZ=")) {
    const std::size_t blank = text.find(' ');
    // The library slices up to the blank without checking that there is one; this is the text of the panic.
    if (blank == std::string_view::npos)
      return {std::nullopt, "invalid schedule format: runtime error: slice bounds out of range [:-1]"};
    const std::size_t equals = text.find('=');
    const std::string name(text.substr(equals + 1, blank - equals - 1));
    std::string error;
    const std::optional<TimeZone> found = TimeZone::Load(name, &error);
    if (!found) return {std::nullopt, "provided bad location " + name + ": " + error};
    zone = *found;
    text = Trim(text.substr(blank));
  }
  if (text.starts_with('@')) {
    constexpr std::string_view kEvery = "@every ";
    if (text.starts_with(kEvery)) return ParseEvery(text, text.substr(kEvery.size()));
    const auto* known = std::find_if(std::begin(kDescriptors), std::end(kDescriptors),
                                     [text](const Descriptor& each) { return each.name == text; });
    if (known == std::end(kDescriptors))
      return {std::nullopt, "unrecognized descriptor: " + std::string(text)};
    text = known->fields;
  }
  Read<Fields> fields = ReadFields(text);
  if (!fields.error.empty()) return {std::nullopt, std::move(fields.error)};
  return {CronSchedule(fields.value, zone), ""};
}

}  // namespace terrarium::api
