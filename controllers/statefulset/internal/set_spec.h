#pragma once

// The fields of a StatefulSet's spec that decide what happens to its pods. Pure.

#include <cstdint>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/base/feature_gates.h"
#include "api/json.h"

namespace terrarium::controllers::statefulset {

struct RetentionPolicy {
  bool deletes_when_deleted = false;
  bool deletes_when_scaled = false;

  bool RetainsAll() const { return !deletes_when_deleted && !deletes_when_scaled; }
};

struct SetSpec {
  int replicas = 1;
  int start = 0;          // the first ordinal
  bool parallel = false;  // podManagementPolicy
  api::Duration min_ready{};
  bool on_delete = false;  // updateStrategy; otherwise RollingUpdate
  // The number of ordinals, from the first, that an update leaves alone. nullopt: rollingUpdate is absent.
  std::optional<int> partition;
  // nullopt: the gate MaxUnavailableStatefulSet is off, and an update replaces one pod after the other.
  std::optional<int> max_unavailable;
  RetentionPolicy retention;
  int history_limit = 10;  // negative: unlimited

  // The number of ordinals below `ordinal`'s that an update leaves alone.
  int UpdateFrom() const { return partition.value_or(0); }
  std::int64_t End() const { return std::int64_t{start} + replicas - 1; }  // the last ordinal
  bool Contains(int ordinal) const { return ordinal >= start && ordinal <= End(); }
};

SetSpec ReadSetSpec(const api::Json& set, const api::FeatureGates& gates);

// maxUnavailable as a number of pods: percentages of `replicas` are rounded down, absent is 1, and it is
// never less than 1.
int MaxUnavailable(const api::Json* value, int replicas);

}  // namespace terrarium::controllers::statefulset
