#pragma once

// The facts of a pod that the Job controller uses, read once from each version of its document.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/core_v1/pod.h"
#include "api/json.h"

namespace terrarium::controllers::job {

inline constexpr const char* kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
inline constexpr const char* kCompletionIndexKey =
    "batch.kubernetes.io/job-completion-index";  // annotation and label
inline constexpr const char* kIndexFailuresAnnotation = "batch.kubernetes.io/job-index-failure-count";
inline constexpr const char* kIndexIgnoredFailuresAnnotation =
    "batch.kubernetes.io/job-index-ignored-failure-count";

// The index of a pod without a valid completion index.
inline constexpr int kUnknownIndex = -1;

using api::Phase;

struct PodFacts {
  std::string name;
  std::string uid;
  Phase phase = Phase::kPending;
  bool deleting = false;
  bool ready = false;
  bool has_finalizer = false;  // until its removal the pod has not been counted permanently
  int index = kUnknownIndex;
  // How often earlier pods of its index had failed when it was created; failures that podFailurePolicy
  // ignored are counted separately.
  std::int32_t index_failures = 0;
  std::int32_t index_ignored_failures = 0;
  api::Time finish_time{};  // see FinishTimeOf (backoff.h); used once the pod has finished

  // The fields below decide the order in which active pods are deleted.
  bool assigned = false;  // to a node
  api::Time ready_since{};
  api::Time created{};
  int restarts_most = 0;          // of the regular container with the most restarts
  int restarts_most_sidecar = 0;  // of the sidecar with the most restarts
  int restarts = 0;               // of all its containers together

  bool Terminal() const { return api::IsTerminal(phase); }
  bool Active() const { return !Terminal() && !deleting; }
  // As status.terminating counts it: a finished pod is no longer terminating.
  bool Terminating() const { return !Terminal() && deleting; }
  std::int64_t AllIndexFailures() const { return std::int64_t{index_failures} + index_ignored_failures; }
};

PodFacts FactsOf(const api::Json& pod);

// The value of the annotation batch.kubernetes.io/job-completion-index; kUnknownIndex unless it is a number
// of at least 0.
int CompletionIndexOf(const api::Json& pod);

// Parses the whole text, with the syntax of Go's strconv.Atoi.
std::optional<std::int64_t> ParseNumber(std::string_view text);

// Orders pods for deletion: the least advanced ones come first.
bool GivenUpBefore(const PodFacts& a, const PodFacts& b);

}  // namespace terrarium::controllers::job
