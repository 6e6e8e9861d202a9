#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"

namespace terrarium::kubelet_fake::scheduling {

// Amounts as the scheduler computes with them: cpu in thousandths, everything else in whole units.
struct Resources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  // Extended resources, huge pages and the like, sorted by name; unlisted ones are zero.
  std::vector<std::pair<std::string, std::int64_t>> scalars = {};

  void Add(const Resources& other);
  void Subtract(const Resources& other);
  std::int64_t Scalar(std::string_view name) const;
  bool IsZero() const { return milli_cpu == 0 && memory == 0 && ephemeral_storage == 0 && scalars.empty(); }

  friend bool operator==(const Resources&, const Resources&) = default;
};

struct PodRequests {
  Resources requests;
  // For scoring, a container without requests counts as 100m and 200Mi, so that such pods spread as well.
  std::int64_t scoring_milli_cpu = 0;
  std::int64_t scoring_memory = 0;
};

// The most that a pod needs at any time of its life: containers and restartable init containers run together,
// the other init containers one after the other beside the restartable ones started before them.
PodRequests RequestsOf(const api::Json& pod_spec);

struct Allocatable {
  Resources resources;
  std::int64_t pods = 0;

  friend bool operator==(const Allocatable&, const Allocatable&) = default;
};
Allocatable AllocatableOf(const api::Json& node_status);

// How evenly those amounts of cpu and memory would use a node, from 50 to 100. 100 if it lacks either
// resource.
std::int64_t EvennessOf(std::int64_t milli_cpu, std::int64_t memory, const Resources& allocatable);

}  // namespace terrarium::kubelet_fake::scheduling
