#include "controllers/job/internal/tally.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "controllers/job/internal/success_policy.h"

namespace terrarium::controllers::job {
namespace {

std::vector<int> IndexesOf(const std::vector<JobPodPtr>& pods, bool (PodFacts::*wanted)() const) {
  std::vector<int> indexes;
  for (const JobPodPtr& pod : pods)
    if ((pod->facts().*wanted)()) indexes.push_back(pod->facts().index);
  return indexes;
}

Condition Failure(const JobSpec& spec, const char* reason, const char* message) {
  return {std::string(spec.rules.delays_terminal_condition ? kFailureTarget : kFailed), reason, message};
}

void TallyFinished(const JobSpec& spec, const JobStatus& status, const Carried& carried, Tally& tally) {
  std::vector<api::Time> succeeded, failed;
  int ignored = 0;
  std::vector<int> indexes;
  for (const JobPodPtr& pod : tally.pods) {
    const PodFacts& facts = pod->facts();
    switch (NewlyFinished(facts, spec.rules, tally.uncounted)) {
      case Finish::kNone: break;
      case Finish::kSucceeded:
        succeeded.push_back(facts.finish_time);
        indexes.push_back(facts.index);
        break;
      case Finish::kFailed:
        failed.push_back(facts.finish_time);
        if (!pod->Verdict(spec).counts) ++ignored;
        break;
    }
  }
  tally.succeeded = status.succeeded + static_cast<int>(succeeded.size() + status.uncounted_succeeded.size());
  tally.failed = status.failed + static_cast<int>(failed.size() + status.uncounted_failed.size()) - ignored;
  if (spec.indexed) {
    tally.completed_indexes = tally.completed_before;
    tally.completed_indexes.Insert(IndexSet::Of(std::move(indexes)));
    tally.succeeded = tally.completed_indexes.size();
  }
  tally.backoff = WithFinished(carried.backoff, std::move(succeeded), std::move(failed));
}

void TallyFailedIndexes(const JobSpec& spec, const JobStatus& status, Carried& carried, Tally& tally) {
  std::vector<int> failed;
  std::vector<const PodFacts*> with_finalizer;
  for (const JobPodPtr& pod : tally.pods) {
    const PodFacts& facts = pod->facts();
    if (!facts.has_finalizer) continue;
    with_finalizer.push_back(&facts);
    if (!HasValidIndex(facts, spec.rules) || !IsPodFailed(facts, spec.rules)) continue;
    if (FailsItsIndex(facts, spec.rules, pod->Verdict(spec), *spec.backoff_limit_per_index))
      failed.push_back(facts.index);
  }
  IndexSet all = carried.failed_indexes.Read(status.failed_indexes.value_or(""), *spec.rules.index_end);
  all.Insert(IndexSet::Of(std::move(failed)));
  const IndexSet active = IndexSet::Of(IndexesOf(tally.pods, &PodFacts::Active));
  const IndexSet* settled_or_active[] = {&tally.completed_indexes, &all, &active};
  tally.kept = PodsKeptForTheirIndex(with_finalizer, spec.rules, tally.uncounted, settled_or_active);
  tally.failed_indexes = std::move(all);
}

// Of pods that have failed, the first that the policy fails the Job for.
std::optional<Condition> FailedByPolicy(const JobSpec& spec, const Tally& tally) {
  if (spec.failure_policy == nullptr) return std::nullopt;
  for (const JobPodPtr& pod : tally.pods) {
    if (!IsPodFailed(pod->facts(), spec.rules)) continue;
    const FailureVerdict& verdict = pod->Verdict(spec);
    if (verdict.action == FailureAction::kFailJob)
      return Condition{std::string(kFailureTarget), "PodFailurePolicy", verdict.fail_job_message};
  }
  return std::nullopt;
}

std::optional<Condition> FailedByLimits(const JobSpec& spec, const JobStatus& status, const Tally& tally,
                                        api::Time now) {
  const bool past_restarts =
      spec.restarts_in_place && PastBackoffLimitByRestarts(tally.counts.restarts(), spec.backoff_limit);
  if (tally.failed > spec.backoff_limit || past_restarts)
    return Failure(spec, "BackoffLimitExceeded", "Job has reached the specified backoff limit");
  if (DeadlineLeft(spec, status, now) == api::Duration::zero())
    return Failure(spec, "DeadlineExceeded", "Job was active longer than specified deadline");
  return std::nullopt;
}

std::optional<Condition> FailedByIndexes(const JobSpec& spec, const Tally& tally) {
  if (!tally.failed_indexes || tally.failed_indexes->empty()) return std::nullopt;
  const int failed = tally.failed_indexes->size();
  if (spec.failed_indexes_max && failed > *spec.failed_indexes_max)
    return Failure(spec, "MaxFailedIndexesExceeded",
                   "Job has exceeded the specified maximal number of failed indexes");
  if (failed + tally.completed_indexes.size() >= *spec.rules.index_end)
    return Failure(spec, "FailedIndexes", "Job has failed indexes");
  return std::nullopt;
}

std::optional<Condition> SucceededByPolicy(const JobSpec& spec, const Tally& tally) {
  if (!spec.indexed) return std::nullopt;
  const std::optional<int> rule =
      MatchSuccessPolicy(spec.success_policy, *spec.rules.index_end, tally.completed_indexes);
  if (!rule) return std::nullopt;
  return Condition{std::string(kSuccessCriteriaMet), "SuccessPolicy", SuccessPolicyMessage(*rule)};
}

}  // namespace

const IndexSet& CarriedIndexes::Read(std::string_view text, int completions) {
  if (text != text_ || completions != completions_) {
    text_ = text;
    completions_ = completions;
    indexes_ = IndexSet::Parse(text, completions);
  }
  return indexes_;
}

Tally TallyOf(const JobSpec& spec, const JobStatus& status, std::vector<JobPodPtr> pods,
              UidSet finalizer_removals, Carried& carried) {
  Tally tally;
  std::sort(pods.begin(), pods.end(), [](const JobPodPtr& a, const JobPodPtr& b) {
    return std::tie(a->facts().index, a->facts().name) < std::tie(b->facts().index, b->facts().name);
  });
  tally.pods = std::move(pods);
  for (const JobPodPtr& pod : tally.pods) tally.counts.Add(pod->facts());
  tally.uncounted = {UidSet(status.uncounted_succeeded.begin(), status.uncounted_succeeded.end()),
                     UidSet(status.uncounted_failed.begin(), status.uncounted_failed.end()),
                     std::move(finalizer_removals)};
  if (spec.indexed)
    tally.completed_before = carried.completed_indexes.Read(status.completed_indexes, *spec.rules.index_end);
  TallyFinished(spec, status, carried, tally);
  if (spec.indexed && spec.backoff_limit_per_index) TallyFailedIndexes(spec, status, carried, tally);
  return tally;
}

std::optional<Condition> EndOf(const JobSpec& spec, const JobStatus& status, const Tally& tally,
                               api::Time now) {
  if (spec.UsesSuccessCriteria()) {
    if (auto met = TrueCondition(status, kSuccessCriteriaMet)) return met;
  }
  if (auto target = TrueCondition(status, kFailureTarget)) {
    target->type = kFailed;
    return target;
  }
  if (auto failed = FailedByPolicy(spec, tally)) return failed;
  if (auto failed = FailedByLimits(spec, status, tally, now)) return failed;
  if (auto failed = FailedByIndexes(spec, tally)) return failed;
  return SucceededByPolicy(spec, tally);
}

bool IsComplete(const JobSpec& spec, int succeeded, int active) {
  if (active > 0) return false;
  return spec.completions ? succeeded >= *spec.completions : succeeded > 0;
}

Condition CompletionsReached(const JobSpec& spec) {
  Condition condition;
  condition.type = spec.rules.delays_terminal_condition ? kSuccessCriteriaMet : kComplete;
  if (spec.success_policy_gate) {
    condition.reason = "CompletionsReached";
    condition.message = "Reached expected number of succeeded pods";
  }
  return condition;
}

std::optional<api::Duration> DeadlineLeft(const JobSpec& spec, const JobStatus& status, api::Time now) {
  if (!spec.active_deadline || !status.start_time || spec.suspended) return std::nullopt;
  return std::max(*status.start_time + *spec.active_deadline - now, api::Duration::zero());
}

}  // namespace terrarium::controllers::job
