#include "api/pod_script/usage_course.h"

#include <algorithm>
#include <utility>

#include "api/base/duration.h"

namespace terrarium::api {
namespace {

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<Duration> ReadTime(std::string_view text, std::string* error) {
  const ParsedDuration parsed = ParseDuration(text);
  *error = parsed.error;
  if (!parsed) return std::nullopt;
  if (parsed.value >= Duration::zero()) return parsed.value;
  *error = "must be greater than or equal to 0";
  return std::nullopt;
}

std::optional<Quantity> ReadAmount(std::string_view text, std::string* error) {
  std::optional<Quantity> amount = Quantity::Parse(text, error);
  if (!amount || amount->Sign() >= 0) return amount;
  *error = "must be greater than or equal to 0";
  return std::nullopt;
}

// "250m" or "5m:800m".
std::optional<UsageStep> ReadStep(std::string_view text, std::string* error) {
  UsageStep step{Duration::zero(), {}};
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    const std::optional<Duration> after = ReadTime(Trim(text.substr(0, colon)), error);
    if (!after) return std::nullopt;
    step.after = *after;
    text.remove_prefix(colon + 1);
  }
  std::optional<Quantity> amount = ReadAmount(Trim(text), error);
  if (!amount) return std::nullopt;
  step.amount = std::move(*amount);
  return step;
}

}  // namespace

std::optional<UsageCourse> UsageCourse::Parse(std::string_view text, std::string* error) {
  const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1;
  if (count > kUsageStepsMax) {
    *error = "must have at most " + std::to_string(kUsageStepsMax) + " steps";
    return std::nullopt;
  }
  std::vector<UsageStep> steps;
  for (std::string_view rest = text; steps.size() < count;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::optional<UsageStep> step = ReadStep(Trim(rest.substr(0, comma)), error);
    if (!step) return std::nullopt;
    if (steps.empty() && step->after != Duration::zero()) {
      *error = "must begin with the usage at the container's start, like 100m,5m:800m";
      return std::nullopt;
    }
    if (!steps.empty() && step->after <= steps.back().after) {
      *error = "must be in ascending order of time, like 100m,5m:800m,20m:100m";
      return std::nullopt;
    }
    steps.push_back(std::move(*step));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return UsageCourse(std::move(steps));
}

const Quantity& UsageCourse::At(Duration since_start) const {
  const auto later = std::find_if(steps_.begin() + 1, steps_.end(),
                                  [&](const UsageStep& step) { return step.after > since_start; });
  return std::prev(later)->amount;
}

}  // namespace terrarium::api
