#pragma once

// What the rules of Jobs know of a pod: small facts, read once from each version of its document.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::controllers::job {

inline constexpr const char* kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
inline constexpr const char* kCompletionIndexKey = "batch.kubernetes.io/job-completion-index";  // annotation and label
inline constexpr const char* kIndexFailuresAnnotation = "batch.kubernetes.io/job-index-failure-count";
inline constexpr const char* kIndexIgnoredFailuresAnnotation = "batch.kubernetes.io/job-index-ignored-failure-count";

// A pod without a readable completion index.
inline constexpr int kUnknownIndex = -1;

enum class Phase { kPending, kRunning, kUnknown, kSucceeded, kFailed };

struct PodFacts {
  std::string name;
  std::string uid;
  Phase phase = Phase::kPending;
  bool deleting = false;
  bool ready = false;
  bool has_finalizer = false;  // not taken off yet: the pod has not been counted for good
  int index = kUnknownIndex;
  // How often pods of its index had failed before it was made; what podFailurePolicy ignored is told apart.
  std::int32_t index_failures = 0;
  std::int32_t index_ignored_failures = 0;
  api::Time finish_time{};  // see FinishTimeOf (backoff.h); of interest once the pod has failed or succeeded

  // In which order active pods are given up.
  bool assigned = false;  // to a node
  api::Time ready_since{};
  api::Time created{};
  int restarts_most = 0;          // of the regular container that restarted most
  int restarts_most_sidecar = 0;  // of the sidecar that did
  int restarts = 0;               // of all its containers together

  bool Terminal() const { return phase == Phase::kSucceeded || phase == Phase::kFailed; }
  bool Active() const { return !Terminal() && !deleting; }
  // "Terminating" as status.terminating means it: what has ended is no longer terminating.
  bool Terminating() const { return !Terminal() && deleting; }
  std::int64_t AllIndexFailures() const { return std::int64_t{index_failures} + index_ignored_failures; }
};

PodFacts FactsOf(const api::Json& pod);

// The index of the annotation batch.kubernetes.io/job-completion-index; kUnknownIndex unless it is a number from 0 on.
int CompletionIndexOf(const api::Json& pod);

// A whole text as a number, as Go's strconv.Atoi reads it.
std::optional<std::int64_t> ParseNumber(std::string_view text);

// Puts first which pods to give up first: those that have come least far.
bool GivenUpBefore(const PodFacts& a, const PodFacts& b);

}  // namespace terrarium::controllers::job
