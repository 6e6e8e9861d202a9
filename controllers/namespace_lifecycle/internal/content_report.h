#pragma once

// The remaining content of a terminating namespace, and the conditions that report it. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers::namespace_lifecycle {

struct ContentReport {
  // The estimated time until the rest is gone; 0 with nothing remaining means that the namespace is empty.
  std::int64_t estimate_seconds = 0;
  std::map<std::string, int> remaining;   // "pods." or "deployments.apps" -> how many
  std::map<std::string, int> finalizers;  // finalizer -> objects that it holds
  std::vector<std::string> errors;        // errors of the deletion of resources
};

// The part of one resource.
struct ResourceReport {
  std::int64_t estimate_seconds = 0;
  int remaining = 0;
  std::map<std::string, int> finalizers;
  std::string error;
};
void Add(ContentReport& report, const ServedResource& resource, const ResourceReport& part);

// The report for objects that remain after all were deleted. With a grace period or finalizers they will be
// gone later; otherwise their existence is an error.
ResourceReport JudgeRemaining(const ServedResource& resource, const std::string& ns,
                              std::int64_t estimate_seconds, int remaining,
                              std::map<std::string, int> finalizers);

// The longest grace period of pods that have not ended, in seconds; 0 once the namespace has been terminating
// for longer.
std::int64_t EstimateForPods(std::int64_t longest_grace_seconds, api::Duration going_for);

// Updates status.conditions. False: unchanged.
bool SetConditions(api::Json& ns, const ContentReport& report, api::Time now);

}  // namespace terrarium::controllers::namespace_lifecycle
