#pragma once

// Properties of pods that several components read.

#include <cstdint>
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

// status.phase. Surplus pods are deleted in the order Pending, Unknown, Running.
enum class Phase : std::uint8_t { kPending, kUnknown, kRunning, kSucceeded, kFailed };
Phase ParsePhase(std::string_view text);  // kPending when absent or invalid
std::string_view PhaseName(Phase phase);

// A pod has ended: none of its containers runs, and none will.
inline bool IsTerminal(Phase phase) { return phase == Phase::kSucceeded || phase == Phase::kFailed; }
inline bool IsPodPhaseTerminal(std::string_view phase) { return IsTerminal(ParsePhase(phase)); }
inline bool IsPodTerminal(const Object& pod) { return IsPodPhaseTerminal(PodPhase(pod)); }
bool IsPodTerminal(const Json& pod);

// The condition Ready.
struct PodReadiness {
  bool ready = false;
  std::optional<Time> since;  // nullopt: not ready, or without a transition time
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
// The entry of a strategic merge patch of status.conditions that sets the condition, or nullopt when `pod`
// has it already. The transition time changes only with the status.
std::optional<Json> ConditionChange(const Json& pod, const PodCondition& wanted, Time now);

}  // namespace terrarium::api
