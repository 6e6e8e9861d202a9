#pragma once

// What is asked of pods, one function for each question.

#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object.h"

namespace terrarium::api {

// From the header, without parsing.
inline const std::string& PodNodeName(const Object& pod) { return pod.header().node_name; }  // "": not bound
inline const std::string& PodPhase(const Object& pod) { return pod.header().phase.text(); }

// A pod has ended: none of its containers runs, and none will.
inline bool IsPodPhaseTerminal(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }
inline bool IsPodTerminal(const Object& pod) { return IsPodPhaseTerminal(PodPhase(pod)); }
bool IsPodTerminal(const Json& pod);

// The condition Ready.
struct PodReadiness {
  bool ready = false;
  std::optional<Time> since;  // when it became ready; nullopt: it is not, or the condition does not say
};
PodReadiness ReadinessOf(const Json& pod);

// How often the kubelet has restarted the pod's containers.
struct PodRestarts {
  int most = 0;          // of the regular container that restarted most
  int most_sidecar = 0;  // of the init container with restartPolicy Always that did
  int total = 0;         // of all containers, init containers included
};
PodRestarts RestartsOf(const Json& pod);

// The entry of status.conditions of that type, of a pod or of any other kind; nullptr when there is none.
const Json* FindCondition(const Json& object, std::string_view type);

struct PodCondition {
  std::string_view type;
  std::string_view status;
  std::string_view reason;
  std::string_view message;
};
// The entry by which a strategic merge patch of status.conditions gives `pod` that condition, or nullopt when
// it has it already. The transition time moves only when the status does.
std::optional<Json> ConditionChange(const Json& pod, const PodCondition& wanted, Time now);

}  // namespace terrarium::api
