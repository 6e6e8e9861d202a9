#include "controllers/horizontal_pod_autoscaler/internal/scale_history.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace terrarium::controllers::autoscaler {
namespace {

using std::chrono::seconds;

constexpr api::Duration kDownscaleStabilization = std::chrono::minutes(5);

int ToInt(double value) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<int>(std::clamp(value, -kMost, kMost));
}

}  // namespace

void ScaleHistory::RecordFirst(int replicas, api::Time now) {
  if (recommendations_.empty()) recommendations_.push_back({replicas, now});
}

void ScaleHistory::Put(std::vector<Entry>& entries, Entry entry, api::Time outdated) {
  const auto old =
      std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& e) { return e.time < outdated; });
  if (old == entries.rend())
    entries.push_back(entry);
  else
    *old = entry;
}

int ScaleHistory::StabilizeDown(int desired, api::Time now) {
  const api::Time cutoff = now - kDownscaleStabilization;
  int highest = desired;
  for (const Entry& entry : recommendations_)
    if (entry.time >= cutoff) highest = std::max(highest, entry.count);
  Put(recommendations_, {desired, now}, cutoff);
  return highest;
}

int ScaleHistory::Stabilize(int current, int desired, const Behavior& behavior, api::Time now) {
  const api::Time up_cutoff = now - seconds(behavior.up.stabilization_seconds);
  const api::Time down_cutoff = now - seconds(behavior.down.stabilization_seconds);
  int lowest = desired;
  int highest = desired;
  for (const Entry& entry : recommendations_) {
    if (entry.time > up_cutoff) lowest = std::min(lowest, entry.count);
    if (entry.time > down_cutoff) highest = std::max(highest, entry.count);
  }
  Put(recommendations_, {desired, now}, std::min(up_cutoff, down_cutoff));
  return std::min(std::max(current, lowest), highest);
}

void ScaleHistory::RecordScaling(const Behavior& behavior, int from, int to, api::Time now) {
  const bool up = to > from;
  const ScalingRules& rules = up ? behavior.up : behavior.down;
  Put(up ? ups_ : downs_, {std::abs(to - from), now}, now - seconds(rules.LongestPeriodSeconds()));
}

std::int64_t ScaleHistory::SumSince(const std::vector<Entry>& entries, int period_seconds, api::Time now) {
  std::int64_t sum = 0;
  for (const Entry& entry : entries)
    if (entry.time > now - seconds(period_seconds)) sum += entry.count;
  return sum;
}

std::int64_t ScaleHistory::StartOf(const ScalingPolicy& policy, int current, api::Time now) const {
  return current - SumSince(ups_, policy.period_seconds, now) + SumSince(downs_, policy.period_seconds, now);
}

int ScaleHistory::UpperLimit(int current, const ScalingRules& rules, api::Time now) const {
  if (rules.select == SelectPolicy::kDisabled) return current;
  const bool least = rules.select == SelectPolicy::kMin;
  int limit = least ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int32_t>::min();
  for (const ScalingPolicy& policy : rules.policies) {
    const auto start = static_cast<double>(StartOf(policy, current, now));
    // Rounded up, since a small target could never grow otherwise.
    const int allowed =
        ToInt(policy.percent ? std::ceil(start * (1 + policy.value / 100.0)) : start + policy.value);
    limit = least ? std::min(limit, allowed) : std::max(limit, allowed);
  }
  return std::max(limit, current);
}

int ScaleHistory::LowerLimit(int current, const ScalingRules& rules, api::Time now) const {
  if (rules.select == SelectPolicy::kDisabled) return current;
  const bool least = rules.select == SelectPolicy::kMin;
  int limit = least ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
  for (const ScalingPolicy& policy : rules.policies) {
    const auto start = static_cast<double>(StartOf(policy, current, now));
    const int allowed =
        ToInt(policy.percent ? std::trunc(start * (1 - policy.value / 100.0)) : start - policy.value);
    limit = least ? std::max(limit, allowed) : std::min(limit, allowed);
  }
  return std::min(limit, current);
}

}  // namespace terrarium::controllers::autoscaler
