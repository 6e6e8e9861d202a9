#pragma once

// The recent recommendations for one autoscaler and its recent scalings: what stabilization windows and
// scaling policies look back at. Kept in memory, as in Kubernetes: a restarted controller has none. Pure.

#include <cstdint>
#include <vector>

#include "api/base/clock.h"
#include "controllers/horizontal_pod_autoscaler/internal/autoscaler_spec.h"

namespace terrarium::controllers::autoscaler {

class ScaleHistory {
 public:
  // A no-op unless it is the first recommendation.
  void RecordFirst(int replicas, api::Time now);
  // Records a recommendation and returns the highest one of the five minutes before.
  int StabilizeDown(int desired, api::Time now);
  // Records a recommendation and returns `current`, moved into the range of the recommendations of both
  // windows.
  int Stabilize(int current, int desired, const Behavior& behavior, api::Time now);

  // Records that the target was scaled.
  void RecordScaling(const Behavior& behavior, int from, int to, api::Time now);
  // The bounds that the policies of a direction set, relative to the size at the start of their periods.
  int UpperLimit(int current, const ScalingRules& rules, api::Time now) const;
  int LowerLimit(int current, const ScalingRules& rules, api::Time now) const;

 private:
  struct Entry {
    int count;
    api::Time time;
  };
  // Adds an entry, or replaces the last of those before `outdated`, so that the list stays short.
  static void Put(std::vector<Entry>& entries, Entry entry, api::Time outdated);
  static std::int64_t SumSince(const std::vector<Entry>& entries, int period_seconds, api::Time now);
  // The size at the start of the policy's period.
  std::int64_t StartOf(const ScalingPolicy& policy, int current, api::Time now) const;

  std::vector<Entry> recommendations_;
  std::vector<Entry> ups_;    // pods added
  std::vector<Entry> downs_;  // pods removed
};

}  // namespace terrarium::controllers::autoscaler
