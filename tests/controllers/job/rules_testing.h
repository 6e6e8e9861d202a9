#pragma once

// Short constructors of pods for tests of the Job rules.

#include <string>
#include <utility>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/job/internal/pod_facts.h"

namespace terrarium::controllers::job::testing {

inline const api::Time kNoon{std::chrono::seconds(1'767'268'800)};  // 2026-01-01T12:00:00Z

inline PodFacts Pod(std::string uid, Phase phase) {
  PodFacts pod;
  pod.name = uid;
  pod.uid = std::move(uid);
  pod.phase = phase;
  pod.has_finalizer = true;
  return pod;
}

inline PodFacts Deleting(PodFacts pod) {
  pod.deleting = true;
  return pod;
}

inline PodFacts OfIndex(int index, PodFacts pod) {
  pod.index = index;
  return pod;
}

inline std::string At(std::chrono::seconds after_noon) { return api::FormatTime(kNoon + after_noon); }

inline api::Json Terminated(const std::string& container, std::chrono::seconds finished, int exit_code = 1) {
  return {{"name", container},
          {"state", {{"terminated", {{"exitCode", exit_code}, {"finishedAt", At(finished)}}}}}};
}

inline api::Json Running(const std::string& container) {
  return {{"name", container}, {"state", {{"running", {{"startedAt", At(std::chrono::seconds(0))}}}}}};
}

}  // namespace terrarium::controllers::job::testing
