#include "controllers/job/internal/accounting.h"

#include <utility>

namespace terrarium::controllers::job {
namespace {

// Removes the uids without a finalizer from the list, and returns their number.
int MoveOut(const UidSet& with_finalizer, std::vector<std::string>& uids) {
  return static_cast<int>(
      std::erase_if(uids, [&](const std::string& uid) { return !with_finalizer.contains(uid); }));
}

class Accountant {
 public:
  Accountant(const JobSpec& spec, const Tally& tally, const std::optional<Condition>& end, bool job_deleting,
             JobStatus& status)
      : spec_(spec), tally_(tally), end_(end), job_deleting_(job_deleting), status_(status) {}

  Accounting Run() {
    for (const JobPodPtr& pod : tally_.pods)
      if (IsOpen(pod->facts())) out_.with_finalizer.insert(pod->facts().uid);
    CountWithoutFinalizer(out_.with_finalizer, status_);
    for (const JobPodPtr& pod : tally_.pods) {
      const PodFacts& facts = pod->facts();
      if (!IsOpen(facts) || !MayLoseFinalizer(facts)) continue;
      out_.finalizers_off.push_back(&facts);
      WriteDown(*pod);
      if (new_indexes_ + status_.Uncounted() < kUncountedMax) continue;
      out_.full = true;
      break;
    }
    return std::move(out_);
  }

 private:
  // Its finalizer is on, and the removal has not been requested.
  bool IsOpen(const PodFacts& pod) const {
    return pod.has_finalizer && !tally_.uncounted.finalizer_removals.contains(pod.uid);
  }

  bool MayLoseFinalizer(const PodFacts& pod) const {
    if (job_deleting_ || end_ || pod.phase == Phase::kSucceeded) return true;
    if (!IsPodFailed(pod, spec_.rules)) return false;
    auto kept = tally_.kept.find(pod.index);
    return kept == tally_.kept.end() || kept->second != &pod;
  }

  void WriteDown(const JobPod& pod) {
    const PodFacts& facts = pod.facts();
    const bool down_as_failed = tally_.uncounted.failed.contains(facts.uid);
    if (facts.phase == Phase::kSucceeded && !down_as_failed) return WriteDownSucceeded(facts);
    const bool ends_in_failure = end_ && end_->type != kSuccessCriteriaMet;
    if (!IsPodFailed(facts, spec_.rules) && !ends_in_failure) return;
    if (down_as_failed || !HasValidIndex(facts, spec_.rules)) return;
    const FailureVerdict& verdict = pod.Verdict(spec_);
    if (verdict.action) ++out_.by_policy[*verdict.action];
    if (verdict.counts) status_.uncounted_failed.push_back(facts.uid);
  }

  void WriteDownSucceeded(const PodFacts& pod) {
    if (spec_.indexed) {
      // The index in completedIndexes prevents counting it twice; the tally has already added it to the set.
      if (HasValidIndex(pod, spec_.rules) && !tally_.completed_before.Has(pod.index)) ++new_indexes_;
    } else if (!tally_.uncounted.succeeded.contains(pod.uid)) {
      status_.uncounted_succeeded.push_back(pod.uid);
    }
  }

  const JobSpec& spec_;
  const Tally& tally_;
  const std::optional<Condition>& end_;
  const bool job_deleting_;
  JobStatus& status_;
  Accounting out_;
  int new_indexes_ = 0;
};

}  // namespace

Accounting Account(const JobSpec& spec, const Tally& tally, const std::optional<Condition>& end,
                   bool job_deleting, JobStatus& status) {
  Accounting out = Accountant(spec, tally, end, job_deleting, status).Run();
  if (!spec.indexed) return out;
  status.succeeded = tally.completed_indexes.size();
  status.completed_indexes = tally.completed_indexes.String();
  status.failed_indexes.reset();
  if (tally.failed_indexes) status.failed_indexes = tally.failed_indexes->String();
  return out;
}

void CountWithoutFinalizer(const UidSet& with_finalizer, JobStatus& status) {
  status.succeeded += MoveOut(with_finalizer, status.uncounted_succeeded);
  status.failed += MoveOut(with_finalizer, status.uncounted_failed);
}

}  // namespace terrarium::controllers::job
