#include "apiserver/strategy/internal/job_indexes.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "api/base/field_error.h"
#include "apiserver/strategy/internal/checks.h"

namespace terrarium::apiserver::strategy {
namespace {

struct Interval {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::string error;
};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string NotIncreasing(std::int64_t previous, std::int64_t current) {
  return "non-increasing order, previous: " + std::to_string(previous) +
         ", current: " + std::to_string(current);
}

// Reads one end of an interval into *value; returns what is wrong with it.
std::string ReadIndex(std::string_view text, std::int64_t completions, std::int64_t* value) {
  const auto number = ParseInt(text);
  if (!number) return "cannot convert string to integer for index: " + api::Quote(text);
  if (*number >= completions) return "too large index: " + api::Quote(text);
  *value = *number;
  return "";
}

Interval ReadInterval(std::string_view text, std::int64_t completions) {
  const auto ends = Split(text, '-');
  Interval out;
  if (ends.size() > 2) {
    out.error =
        "the fragment " + api::Quote(text) +
        " violates the requirement that an index interval can have at most two parts separated by '-'";
    return out;
  }
  out.error = ReadIndex(ends[0], completions, &out.first);
  out.last = out.first;
  if (!out.error.empty() || ends.size() == 1) return out;
  out.error = ReadIndex(ends[1], completions, &out.last);
  if (out.error.empty() && out.first >= out.last) out.error = NotIncreasing(out.first, out.last);
  return out;
}

std::vector<Interval> ReadableIntervals(std::string_view text, std::int64_t completions) {
  std::vector<Interval> out;
  if (text.empty()) return out;
  for (std::string_view part : Split(text, ',')) {
    Interval interval = ReadInterval(part, completions);
    if (interval.error.empty()) out.push_back(std::move(interval));
  }
  return out;
}

}  // namespace

IndexCount CountIndexes(std::string_view text, std::int64_t completions) {
  IndexCount out;
  if (text.empty()) return out;
  std::optional<std::int64_t> previous;
  for (std::string_view part : Split(text, ',')) {
    const Interval interval = ReadInterval(part, completions);
    if (!interval.error.empty()) return {.total = 0, .error = interval.error};
    if (previous && *previous >= interval.first)
      return {.total = 0, .error = NotIncreasing(*previous, interval.first)};
    out.total += interval.last - interval.first + 1;
    previous = interval.last;
  }
  return out;
}

std::string IndexOverlap(std::string_view completed, std::string_view failed, std::int64_t completions) {
  const auto done = ReadableIntervals(completed, completions);
  const auto bad = ReadableIntervals(failed, completions);
  // Both lists are in increasing order, so the one that begins first cannot meet a later one of the other
  // list.
  auto d = done.begin();
  auto b = bad.begin();
  while (d != done.end() && b != bad.end()) {
    if (d->first <= b->last && b->first <= d->last) {
      return "failedIndexes and completedIndexes overlap at index: " +
             std::to_string(std::max(d->first, b->first));
    }
    if (d->first <= b->first) {
      ++d;
    } else {
      ++b;
    }
  }
  return "";
}

}  // namespace terrarium::apiserver::strategy
