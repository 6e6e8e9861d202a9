#include "controllers/job/internal/job_spec.h"

#include "api/json_access.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;

constexpr std::string_view kOwnName = "kubernetes.io/job-controller";

std::optional<int> OptionalInt(const Json& spec, std::string_view key) {
  const Json* value = api::Find(spec, key);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<int>();
}

}  // namespace

JobSpec ReadJobSpec(const Json& document, const api::FeatureGates& gates) {
  const Json& spec = api::ObjectAt(document, "spec");
  JobSpec out;
  out.allows_fail_index = gates.Enabled(api::gate::kJobBackoffLimitPerIndex);
  out.success_policy_gate = gates.Enabled(api::gate::kJobSuccessPolicy);
  out.replacement_gate = gates.Enabled(api::gate::kJobPodReplacementPolicy);
  out.rules = CountingRulesOf(spec, gates);

  out.parallelism = static_cast<int>(api::IntAt(spec, 1, "parallelism"));
  out.completions = OptionalInt(spec, "completions");
  out.indexed = api::StringAt(spec, "completionMode") == "Indexed";
  out.suspended = api::BoolAt(spec, "suspend");
  out.restarts_in_place = api::StringAt(spec, "template", "spec", "restartPolicy") == "OnFailure";
  out.backoff_limit = static_cast<std::int32_t>(api::IntAt(spec, 6, "backoffLimit"));
  if (out.allows_fail_index) out.backoff_limit_per_index = OptionalInt(spec, "backoffLimitPerIndex");
  out.failed_indexes_max = OptionalInt(spec, "maxFailedIndexes");
  if (const Json* seconds = api::Find(spec, "activeDeadlineSeconds"))
    out.active_deadline = std::chrono::seconds(seconds->get<std::int64_t>());
  out.replaces_failed_only = api::StringAt(spec, "podReplacementPolicy") == "Failed";
  out.failure_policy = api::Find(spec, "podFailurePolicy");
  if (out.success_policy_gate) out.success_policy = api::Find(spec, "successPolicy");
  return out;
}

std::string_view ForeignManager(const Json& document, const api::FeatureGates& gates) {
  if (!gates.Enabled(api::gate::kJobManagedBy)) return {};
  std::string_view manager = api::StringAt(document, "spec", "managedBy");
  return manager == kOwnName ? std::string_view{} : manager;
}

}  // namespace terrarium::controllers::job
