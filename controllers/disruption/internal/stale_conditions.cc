#include "controllers/disruption/internal/stale_conditions.h"

#include <algorithm>
#include <utility>

#include "api/base/feature_gates.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::controllers::disruption {
namespace {

using api::Json;

constexpr const char* kDisruptionTarget = "DisruptionTarget";

}  // namespace

std::optional<api::Duration> DisruptionTargetStandsFor(const Json& pod, api::Time now) {
  if (api::Find(pod, "metadata", "deletionTimestamp") != nullptr) return std::nullopt;
  if (api::IsPodTerminal(pod)) return std::nullopt;
  const Json* condition = api::FindCondition(pod, kDisruptionTarget);
  if (condition == nullptr || api::StringAt(*condition, "status") != "True" ||
      api::StringAt(*condition, "reason") == "TerminationByKubelet")
    return std::nullopt;
  api::Time since = api::ParseTime(api::StringAt(*condition, "lastTransitionTime")).value_or(api::Time());
  return std::max(since + kStaleDisruptionTimeout - now, api::Duration::zero());
}

void SetDisruptionTargetFalse(Json& pod, api::Time now) {
  for (Json& condition : pod["status"]["conditions"]) {
    if (api::StringAt(condition, "type") != kDisruptionTarget) continue;
    condition = {{"type", kDisruptionTarget},
                 {"status", "False"},
                 {"lastProbeTime", nullptr},
                 {"lastTransitionTime", api::FormatTime(now)}};
    if (std::int64_t generation = api::IntAt(pod, 0, "metadata", "generation"); generation > 0)
      condition["observedGeneration"] = generation;
  }
}

StaleConditions::StaleConditions(const ControllerContext& context)
    : context_(context),
      pods_(context.informers.For("pods")),
      loop_(context.env, context.metrics, LoopOptions{.name = "stale_pod_disruption", .workers = 1},
            [this](ObjectName name) { return Sync(std::move(name)); }),
      timers_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }) {}

void StaleConditions::PodSeen(const api::Object& pod) {
  const ObjectName& name = pod.name();
  std::optional<api::Duration> wait;
  if (pod.header().disruption_target && !pod.header().deleting &&
      context_.env.gates.Enabled(api::gate::kPodDisruptionConditions))
    wait = DisruptionTargetStandsFor(*pod.Document(), context_.env.clock.Now());
  if (wait) {
    timers_.Set(name, *wait);
  } else {
    timers_.Cancel(name);
  }
}

void StaleConditions::PodGone(const ObjectName& pod) { timers_.Cancel(pod); }

api::Task<ReconcileResult> StaleConditions::Sync(ObjectName name) {
  ObjectPtr pod = pods_.Get(name);
  if (pod == nullptr || !context_.env.gates.Enabled(api::gate::kPodDisruptionConditions))
    co_return Reconciled::Done();
  Json document = pod->Parse();
  std::optional<api::Duration> wait = DisruptionTargetStandsFor(document, context_.env.clock.Now());
  if (!wait) co_return Reconciled::Done();
  if (*wait > api::Duration::zero()) {
    timers_.Set(name, *wait);
    co_return Reconciled::Done();
  }
  SetDisruptionTargetFalse(document, context_.env.clock.Now());
  api::Client::Written written = co_await context_.client.UpdateStatus("pods", std::move(document));
  if (!written && !written.status().Is(api::reason::kNotFound)) co_return written.status();
  co_return Reconciled::Done();
}

}  // namespace terrarium::controllers::disruption
