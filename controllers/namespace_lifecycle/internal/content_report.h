#pragma once

// What a pass over a terminating namespace has found, and the conditions that tell it. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers::namespace_lifecycle {

struct ContentReport {
  // How long until what remains may have gone; 0 with nothing remaining means that the namespace is empty.
  std::int64_t estimate_seconds = 0;
  std::map<std::string, int> remaining;   // "pods." or "deployments.apps" -> how many
  std::map<std::string, int> finalizers;  // finalizer -> objects that it holds
  std::vector<std::string> errors;        // what went wrong with the deletion of a resource
};

// One resource's part of it.
struct ResourceReport {
  std::int64_t estimate_seconds = 0;
  int remaining = 0;
  std::map<std::string, int> finalizers;
  std::string error;
};
void Add(ContentReport& report, const ServedResource& resource, const ResourceReport& part);

// What to make of the objects of a resource that are still there after all have been deleted: with an
// estimate from their grace periods or with finalizers they go in time, otherwise they should not be there at
// all.
ResourceReport JudgeRemaining(const ServedResource& resource, const std::string& ns,
                              std::int64_t estimate_seconds, int remaining,
                              std::map<std::string, int> finalizers);

// The longest grace period of pods that have not ended, in seconds; 0 once a namespace has been going for
// longer.
std::int64_t EstimateForPods(std::int64_t longest_grace_seconds, api::Duration going_for);

// Brings status.conditions up to the report. False: they said so already.
bool SetConditions(api::Json& ns, const ContentReport& report, api::Time now);

}  // namespace terrarium::controllers::namespace_lifecycle
