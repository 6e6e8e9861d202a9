#include "controllers/job/internal/pod_facts.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

#include "api/json_access.h"
#include "controllers/job/internal/backoff.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;

// Any client may write annotations: an invalid count is read as 0.
std::int32_t CountAt(const Json& pod, const char* annotation) {
  std::int64_t count = ParseNumber(api::StringAt(pod, "metadata", "annotations", annotation)).value_or(0);
  return count < 0 || count > std::numeric_limits<std::int32_t>::max() ? 0 : static_cast<std::int32_t>(count);
}

// Orders unknown times first, then late ones, then early ones: the newest pod is deleted first.
std::int64_t Lateness(api::Time time) {
  return time == api::Time() ? std::numeric_limits<std::int64_t>::min() : -time.time_since_epoch().count();
}

}  // namespace

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int CompletionIndexOf(const Json& pod) {
  std::int64_t index =
      ParseNumber(api::StringAt(pod, "metadata", "annotations", kCompletionIndexKey)).value_or(kUnknownIndex);
  if (index < 0) return kUnknownIndex;
  // No Job has this many completions.
  return static_cast<int>(std::min<std::int64_t>(index, std::numeric_limits<int>::max()));
}

PodFacts FactsOf(const Json& pod) {
  PodFacts facts;
  facts.name = api::StringAt(pod, "metadata", "name");
  facts.uid = api::StringAt(pod, "metadata", "uid");
  facts.phase = api::ParsePhase(api::StringAt(pod, "status", "phase"));
  facts.deleting = api::Find(pod, "metadata", "deletionTimestamp") != nullptr;
  for (const Json& finalizer : api::ListAt(pod, "metadata", "finalizers"))
    if (finalizer == kTrackingFinalizer) facts.has_finalizer = true;
  facts.index = CompletionIndexOf(pod);
  facts.index_failures = CountAt(pod, kIndexFailuresAnnotation);
  facts.index_ignored_failures = CountAt(pod, kIndexIgnoredFailuresAnnotation);
  if (facts.Terminal() || facts.deleting) facts.finish_time = FinishTimeOf(pod);
  facts.assigned = !api::StringAt(pod, "spec", "nodeName").empty();
  const api::PodReadiness readiness = api::ReadinessOf(pod);
  facts.ready = readiness.ready;
  facts.ready_since = readiness.since.value_or(api::Time());
  facts.created = api::ParseTime(api::StringAt(pod, "metadata", "creationTimestamp")).value_or(api::Time());
  const api::PodRestarts restarts = api::RestartsOf(pod);
  facts.restarts_most = restarts.most;
  facts.restarts_most_sidecar = restarts.most_sidecar;
  facts.restarts = restarts.total;
  return facts;
}

bool GivenUpBefore(const PodFacts& a, const PodFacts& b) {
  auto rank = [](const PodFacts& pod) {
    return std::tuple(pod.assigned, pod.phase, pod.ready, pod.ready ? Lateness(pod.ready_since) : 0,
                      -pod.restarts_most, -pod.restarts_most_sidecar, Lateness(pod.created));
  };
  return rank(a) < rank(b);
}

}  // namespace terrarium::controllers::job
