#include "tests/matrix/job_model.h"

#include "tests/matrix/sentences.h"

namespace terrarium::matrix {

const char* NameOf(JobAction action) {
  switch (action) {
    case JobAction::kDeletion: return "Deletion";
    case JobAction::kEviction: return "Eviction";
    case JobAction::kScaleUp: return "ScaleUp";
    case JobAction::kScaleDown: break;
  }
  return "ScaleDown";
}

void JobModel::Switch(const Phase& gates) {
  gates_ = gates;
  if (in_flight_ && !Waits()) Replace();
}

// The apiserver stores the policy, or its default, when its gate is on (kStoredStays, kJobDefault).
void JobModel::Apply() {
  if (gates_.apiserver) policy_ = wanted_policy_.value_or(policy_.value_or("TerminatingOrFailed"));
  if (in_flight_ && !Waits()) Replace();
}

// Terminating pods count as failed and are replaced, unless the Job itself gave them up
// (kJobTerminatingOrFailed, kJobOff). That is not reverted later (kJobNotReevaluated).
void JobModel::Replace() {
  if (!replaced_ && CountsAsFailed()) failed_ += Deleted();
  replaced_ = true;
}

void JobModel::Begin() {
  in_flight_ = true;
  replaced_ = false;
  if (!Waits()) Replace();
}

void JobModel::End() {
  Replace();
  in_flight_ = false;
}

const Sentence& JobModel::WhyPods() const {
  if (!in_flight_ || Waits())
    return replaced_ && in_flight_ ? sentence::kJobNotReevaluated : sentence::kJobFailed;
  return gates_.controller_manager ? sentence::kJobTerminatingOrFailed : sentence::kJobOff;
}

void JobModel::Check(const JobSight& sight, Moment& moment) const {
  const bool stays_small = action_ == JobAction::kScaleDown;
  const int full = stays_small ? kParallelismDown : kParallelism;
  const int terminating = in_flight_ ? Deleted() : 0;
  const int active = replaced_ || stays_small ? full : full - Deleted();
  moment.Expect("spec.podReplacementPolicy", policy_, sight.policy,
                wanted_policy_ ? sentence::kStoredStays : sentence::kJobDefault);
  moment.Expect("active pods", active, sight.active, WhyPods());
  moment.Expect("terminating pods", terminating, sight.terminating, WhyPods());
  moment.Expect("status.failed", failed_, sight.failed, sentence::kJobFailedIncludes);
  moment.Expect("status.terminating",
                gates_.controller_manager ? std::optional<int>(terminating) : std::nullopt, sight.reported,
                gates_.controller_manager ? sentence::kJobReported : sentence::kJobNotReported);
  if (indexed_)
    moment.Expect("an index with two pods", in_flight_ && replaced_ && !stays_small, sight.index_twice,
                  sentence::kJobPerIndex);
}

}  // namespace terrarium::matrix
