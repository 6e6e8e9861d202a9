#pragma once

#include <string_view>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::apiserver {

// Sets a condition of a pod's status to True, as the apiserver does when it binds or evicts a pod. A
// condition that is already True keeps its transition time.
struct PodCondition {
  std::string_view type;
  std::string_view reason;
  std::string_view message;
};
void SetPodConditionTrue(api::Json& pod, const PodCondition& condition, api::Time now);

}  // namespace terrarium::apiserver
