#include "apiserver/strategy/internal/cron_schedule.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <vector>

#include "api/base/duration.h"
#include "api/base/field_error.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/time_zone.h"

namespace terrarium::apiserver::strategy {
namespace {

struct Bounds {
  std::int64_t min;
  std::int64_t max;
  std::span<const std::string_view> names;  // of min, min + 1, ...
};

constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr Bounds kFields[] = {{0, 59, {}}, {0, 23, {}}, {1, 31, {}}, {1, 12, kMonths}, {0, 6, kDays}};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t\n\v\f\r", i);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t\n\v\f\r", begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    i = end;
  }
  return out;
}

// strconv.Atoi's error for malformed text.
std::string AtoiError(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
  const bool number = !digits.empty() && std::all_of(digits.begin(), digits.end(),
                                                     [](unsigned char c) { return std::isdigit(c) != 0; });
  return "strconv.Atoi: parsing " + api::Quote(text) + ": " +
         (number ? "value out of range" : "invalid syntax");
}

std::string ReadNumber(std::string_view text, std::int64_t* value) {
  const auto number = ParseInt(text);
  if (!number) return "failed to parse int from " + std::string(text) + ": " + AtoiError(text);
  if (*number < 0)
    return "negative number (" + std::to_string(*number) + ") not allowed: " + std::string(text);
  *value = *number;
  return "";
}

std::string ReadNumberOrName(std::string_view text, const Bounds& bounds, std::int64_t* value) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto named = std::find(bounds.names.begin(), bounds.names.end(), lower);
  if (named == bounds.names.end()) return ReadNumber(text, value);
  *value = bounds.min + (named - bounds.names.begin());
  return "";
}

// number | number "-" number [ "/" number ], with * and ? for the whole range.
std::string RangeError(std::string_view expression, const Bounds& bounds) {
  const std::string suffix = ": " + std::string(expression);
  const auto range_and_step = Split(expression, '/');
  const auto ends = Split(range_and_step[0], '-');
  std::int64_t start = bounds.min;
  std::int64_t end = bounds.max;
  std::int64_t step = 1;
  if (ends[0] != "*" && ends[0] != "?") {
    if (std::string error = ReadNumberOrName(ends[0], bounds, &start); !error.empty()) return error;
    end = start;
    if (ends.size() > 2) return "too many hyphens" + suffix;
    if (ends.size() == 2) {
      if (std::string error = ReadNumberOrName(ends[1], bounds, &end); !error.empty()) return error;
    }
  }
  if (range_and_step.size() > 2) return "too many slashes" + suffix;
  if (range_and_step.size() == 2) {
    if (std::string error = ReadNumber(range_and_step[1], &step); !error.empty()) return error;
    if (ends.size() == 1) end = bounds.max;  // N/step means N-max/step
  }
  const auto number = [](std::int64_t n) { return "(" + std::to_string(n) + ")"; };
  if (start < bounds.min)
    return "beginning of range " + number(start) + " below minimum " + number(bounds.min) + suffix;
  if (end > bounds.max)
    return "end of range " + number(end) + " above maximum " + number(bounds.max) + suffix;
  if (start > end)
    return "beginning of range " + number(start) + " beyond end of range " + number(end) + suffix;
  if (step == 0) return "step of range should be a positive number" + suffix;
  return "";
}

std::string DescriptorError(std::string_view text) {
  for (std::string_view known :
       {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}) {
    if (text == known) return "";
  }
  constexpr std::string_view kEvery = "@every ";
  if (!text.starts_with(kEvery)) return "unrecognized descriptor: " + std::string(text);
  const std::string error = api::ParseDuration(text.substr(kEvery.size())).error;
  return error.empty() ? "" : "failed to parse duration " + std::string(text) + ": " + error;
}

std::string FieldsError(std::string_view text) {
  const auto fields = Words(text);
  if (fields.size() != std::size(kFields)) {
    std::string error = "expected exactly 5 fields, found " + std::to_string(fields.size()) + ": [";
    for (std::size_t i = 0; i < fields.size(); ++i) error.append(i == 0 ? "" : " ").append(fields[i]);
    return error + "]";
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (std::string_view range : Split(fields[i], ',')) {
      if (range.empty()) continue;
      if (std::string error = RangeError(range, kFields[i]); !error.empty()) return error;
    }
  }
  return "";
}

}  // namespace

std::string CronScheduleError(std::string_view schedule) {
  if (schedule.empty()) return "empty spec string";
  if (schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=")) {
    const std::size_t blank = schedule.find(' ');
    // The library slices up to the blank without looking whether there is one; these are the words of the
    // panic.
    if (blank == std::string_view::npos) {
      return "invalid schedule format: runtime error: slice bounds out of range [:-1]";
    }
    const std::size_t equals = schedule.find('=');
    const std::string zone(schedule.substr(equals + 1, blank - equals - 1));
    if (const std::string error = TimeZoneError(zone); !error.empty()) {
      return "provided bad location " + zone + ": " + error;
    }
    schedule.remove_prefix(std::min(schedule.find_first_not_of(' ', blank), schedule.size()));
  }
  return schedule.starts_with('@') ? DescriptorError(schedule) : FieldsError(schedule);
}

}  // namespace terrarium::apiserver::strategy
