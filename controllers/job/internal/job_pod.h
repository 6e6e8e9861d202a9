#pragma once

// One version of a pod, with its facts, read once.

#include <memory>
#include <optional>
#include <utility>

#include "api/json.h"
#include "api/object.h"
#include "controllers/job/internal/failure_policy.h"
#include "controllers/job/internal/job_spec.h"
#include "controllers/job/internal/pod_facts.h"

namespace terrarium::controllers::job {

class JobPod {
 public:
  JobPod(PodFacts facts, api::ObjectPtr object) : facts_(std::move(facts)), object_(std::move(object)) {}

  const PodFacts& facts() const { return facts_; }
  const api::ObjectPtr& object() const { return object_; }
  const api::ObjectHeader& header() const { return object_->header(); }
  const api::ObjectName& name() const { return object_->name(); }

  // The verdict of the Job's podFailurePolicy. Cached, because a failed pod may exist for minutes until it is
  // replaced; it depends only on the gate.
  const FailureVerdict& Verdict(const JobSpec& spec) const {
    if (!verdict_ || verdict_->first != spec.allows_fail_index) {
      FailureVerdict verdict;
      if (spec.failure_policy != nullptr)
        verdict = MatchFailurePolicy(spec.failure_policy, *object_->Document(), spec.allows_fail_index);
      verdict_.emplace(spec.allows_fail_index, std::move(verdict));
    }
    return verdict_->second;
  }

 private:
  PodFacts facts_;
  api::ObjectPtr object_;
  mutable std::optional<std::pair<bool, FailureVerdict>> verdict_;
};

using JobPodPtr = std::shared_ptr<const JobPod>;

}  // namespace terrarium::controllers::job
