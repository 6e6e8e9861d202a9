#include "controllers/horizontal_pod_autoscaler/internal/normalization.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace terrarium::controllers::autoscaler {
namespace {

constexpr Explanation kReady = {"ReadyForNewScale", "recommended size matches current size"};
constexpr Explanation kUpStabilized = {
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation"};
constexpr Explanation kDownStabilized = {
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation"};

constexpr Explanation kWithinRange = {"DesiredWithinRange",
                                      "the desired count is within the acceptable range"};
constexpr Explanation kTooFew = {"TooFewReplicas",
                                 "the desired replica count is less than the minimum replica count"};
constexpr Explanation kTooMany = {"TooManyReplicas",
                                  "the desired replica count is more than the maximum replica count"};
constexpr Explanation kUpLimit = {
    "ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"};
constexpr Explanation kDownLimit = {
    "ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate"};

constexpr int kUpLimitFactor = 2;
constexpr int kUpLimitMin = 4;

struct Limited {
  int replicas;
  Explanation why;
};

// Without a behavior: at most twice the current size, or four.
Limited LimitByDefault(const AutoscalerSpec& spec, int current, int desired) {
  const std::int64_t rate = std::max<std::int64_t>(std::int64_t{kUpLimitFactor} * current, kUpLimitMin);
  const int most = static_cast<int>(std::min<std::int64_t>(spec.max, rate));
  if (desired < spec.min) return {spec.min, kTooFew};
  if (desired > most) return {most, spec.max > rate ? kUpLimit : kTooMany};
  return {desired, kWithinRange};
}

Limited LimitByPolicies(const AutoscalerSpec& spec, int current, int desired, const ScaleHistory& history,
                        api::Time now) {
  if (desired > current) {
    const int rate = history.UpperLimit(current, spec.behavior->up, now);
    if (desired > std::min(spec.max, rate))
      return {std::min(spec.max, rate), spec.max > rate ? kUpLimit : kTooMany};
  } else if (desired < current) {
    const int rate = history.LowerLimit(current, spec.behavior->down, now);
    if (desired < std::max(spec.min, rate))
      return {std::max(spec.min, rate), spec.min < rate ? kDownLimit : kTooFew};
  }
  return {desired, kWithinRange};
}

bool IsDisabled(const AutoscalerSpec& spec, int current, int desired) {
  if (!spec.behavior) return false;
  const ScalingRules& rules = desired > current ? spec.behavior->up : spec.behavior->down;
  return rules.select == SelectPolicy::kDisabled;
}

}  // namespace

Normalized Normalize(const AutoscalerSpec& spec, int current, int desired, ScaleHistory& history,
                     api::Time now) {
  Normalized out;
  const int stable = spec.behavior ? history.Stabilize(current, desired, *spec.behavior, now)
                                   : history.StabilizeDown(desired, now);
  const bool up = spec.behavior && desired >= current;
  out.able = stable == desired ? kReady : (up ? kUpStabilized : kDownStabilized);
  const Limited limited = spec.behavior ? LimitByPolicies(spec, current, stable, history, now)
                                        : LimitByDefault(spec, current, stable);
  out.replicas = limited.replicas;
  out.limited = limited.replicas != stable;
  out.limits = limited.why;
  // Stabilization matters only if a size between the bounds is held back.
  const int wanted = std::clamp(desired, spec.min, std::max(spec.min, spec.max));
  out.waits = wanted != out.replicas && !IsDisabled(spec, current, wanted);
  return out;
}

}  // namespace terrarium::controllers::autoscaler
