#pragma once

// Taints of nodes and what tolerates them.

#include <string_view>

#include "api/json.h"

namespace terrarium::api {

namespace taint {
inline constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";
inline constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";
inline constexpr std::string_view kMemoryPressure = "node.kubernetes.io/memory-pressure";
inline constexpr std::string_view kDiskPressure = "node.kubernetes.io/disk-pressure";
inline constexpr std::string_view kPidPressure = "node.kubernetes.io/pid-pressure";
inline constexpr std::string_view kNetworkUnavailable = "node.kubernetes.io/network-unavailable";
inline constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";

inline constexpr std::string_view kNoSchedule = "NoSchedule";
inline constexpr std::string_view kNoExecute = "NoExecute";
}  // namespace taint

// Two taints of one key and one effect are the same taint.
bool IsTaint(const Json& taint, std::string_view key, std::string_view effect);
bool HasTaint(const Json& node, std::string_view key, std::string_view effect);
// An empty key tolerates every key, an empty effect every effect, Exists every value.
bool Tolerates(const Json& toleration, const Json& taint);

}  // namespace terrarium::api
