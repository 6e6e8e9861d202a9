#pragma once

// Small views of a pod.

#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object.h"

namespace terrarium::api {

// Facts that a pod's header holds, among the values of its selectable fields: nobody parses a pod to learn its node.
const std::string& PodNodeName(const Object& pod);  // empty: not bound
const std::string& PodSchedulerName(const Object& pod);
const std::string& PodPhase(const Object& pod);

// The entry of status.conditions of that type, of a pod or of any other kind; nullptr when there is none.
const Json* FindCondition(const Json& object, std::string_view type);

struct PodCondition {
  std::string_view type;
  std::string_view status;
  std::string_view reason;
  std::string_view message;
};
// The entry by which a strategic merge patch of status.conditions gives `pod` that condition, or nullopt when it has it
// already. The transition time moves only when the status does.
std::optional<Json> ConditionChange(const Json& pod, const PodCondition& wanted, Time now);

}  // namespace terrarium::api
