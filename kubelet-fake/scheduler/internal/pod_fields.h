#pragma once

// What a pod's header says without its document: its selectable fields, in the order of the apiserver's table.

#include <cstddef>
#include <string>

#include "api/object.h"

namespace terrarium::kubelet_fake::scheduling {

inline constexpr std::size_t kNodeNameField = 0;
inline constexpr std::size_t kSchedulerNameField = 2;
inline constexpr std::size_t kPhaseField = 5;

inline const std::string& NodeNameOf(const api::ObjectHeader& pod) { return pod.fields[kNodeNameField]; }
inline const std::string& SchedulerNameOf(const api::ObjectHeader& pod) { return pod.fields[kSchedulerNameField]; }
inline bool HasEnded(const api::ObjectHeader& pod) {
  const std::string& phase = pod.fields[kPhaseField];
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace terrarium::kubelet_fake::scheduling
