#include "controllers/job/internal/job_states.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::job {

using api::ObjectName;
using StatePtr = JobStates::StatePtr;

StatePtr JobStates::Find(const std::string& job_uid) const {
  auto it = states_.find(job_uid);
  return it == states_.end() ? nullptr : it->second;
}

StatePtr JobStates::Of(const std::string& job_uid, const ObjectName& name) {
  StatePtr& state = states_[job_uid];
  if (state == nullptr) {
    state = std::make_shared<JobState>();
    state->uid = job_uid;
    state->name = name;
  }
  return state;
}

StatePtr JobStates::SetJob(const api::ObjectPtr& job, bool finished) {
  StatePtr state = Of(job->header().uid, job->name());
  if (state->job == nullptr) {
    // A Job's selector never changes.
    auto selector = api::LabelSelector::FromDocument(api::Find(*job->Document(), "spec", "selector"));
    state->selector = selector ? std::move(*selector) : api::LabelSelector::Nothing();
  }
  state->job = job;
  state->finished = finished;
  return state;
}

StatePtr JobStates::RemoveJob(const api::Object& job) {
  StatePtr state = Of(job.header().uid, job.name());
  state->job = nullptr;
  EraseIfNothing(state);
  return state;
}

StatePtr JobStates::OwnerOf(const ObjectName& pod) const {
  auto it = owners_.find(pod);
  return it == owners_.end() ? nullptr : it->second;
}

JobStates::Placed JobStates::PutPod(const std::string& job_uid, const ObjectName& name, JobPodPtr pod) {
  const ObjectName& pod_name = pod->name();
  StatePtr state = Of(job_uid, name);
  StatePtr before = OwnerOf(pod_name);
  const PodFacts& facts = pod->facts();
  const bool selected = state->job == nullptr || state->selector.Matches(pod->header());
  const bool done_with = facts.Terminal() && !facts.has_finalizer && selected;
  if (before != nullptr && (done_with || before != state)) RemovePod(pod_name);
  if (done_with) {
    EraseIfNothing(state);
    return {state, before == state};
  }
  state->pods[pod_name.name] = std::move(pod);
  owners_[pod_name] = state;
  return {state, true};
}

void JobStates::RemovePod(const ObjectName& name) {
  auto owner = owners_.find(name);
  if (owner == owners_.end()) return;
  StatePtr state = std::move(owner->second);
  owners_.erase(owner);
  state->pods.erase(name.name);
  EraseIfNothing(state);
}

void JobStates::EraseIfNothing(const StatePtr& state) {
  if (state->job == nullptr && state->pods.empty()) states_.erase(state->uid);
}

}  // namespace terrarium::controllers::job
