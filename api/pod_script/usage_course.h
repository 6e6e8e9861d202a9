#pragma once

// How much of a resource a container uses over time: "250m", or "100m, 5m:800m, 20m:100m", which is 100m from
// the container's start, 800m from its fifth minute on and 100m again from its twentieth.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/quantity.h"

namespace terrarium::api {

// From `after` (since the container's start) on, the usage is `amount`.
struct UsageStep {
  Duration after;
  Quantity amount;
  friend bool operator==(const UsageStep&, const UsageStep&) = default;
};

inline constexpr std::size_t kUsageStepsMax = 100;

// Never empty; the first step is at 0, and each later one after the one before.
class UsageCourse {
 public:
  // On failure returns nullopt and sets *error.
  static std::optional<UsageCourse> Parse(std::string_view text, std::string* error);

  const Quantity& At(Duration since_start) const;

  friend bool operator==(const UsageCourse&, const UsageCourse&) = default;

 private:
  explicit UsageCourse(std::vector<UsageStep> steps) : steps_(std::move(steps)) {}
  std::vector<UsageStep> steps_;
};

}  // namespace terrarium::api
