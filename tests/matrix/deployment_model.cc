#include "tests/matrix/deployment_model.h"

#include <algorithm>

#include "tests/matrix/sentences.h"

namespace terrarium::matrix {

const char* NameOf(DeploymentAction action) {
  switch (action) {
    case DeploymentAction::kRollingUpdate: return "RollingUpdate";
    case DeploymentAction::kRecreate: return "Recreate";
    case DeploymentAction::kScaleUp: return "ScaleUp";
    case DeploymentAction::kScaleUpUnderRecreate: return "ScaleUpUnderRecreate";
    case DeploymentAction::kScaleDown: return "ScaleDown";
    case DeploymentAction::kEviction: break;
  }
  return "Eviction";
}

bool IsRecreate(DeploymentAction action) {
  return action == DeploymentAction::kRecreate || action == DeploymentAction::kScaleUpUnderRecreate;
}

bool IsRollout(DeploymentAction action) {
  return action == DeploymentAction::kRecreate || action == DeploymentAction::kRollingUpdate;
}

std::map<std::string, bool> DeploymentGates::Map() const {
  return {{"DeploymentPodReplacementPolicy", policy},
          {"DeploymentReplicaSetTerminatingReplicas", terminating}};
}

// The policy takes effect if it is stored and both gates of the controller-manager are on. The apiserver's
// gates only decide what is stored (kDroppedForNew, kStoredStays, kOffInManager).
bool DeploymentModel::Effective(const char* policy) const {
  return policy_ == policy && gates_.controller_manager.policy && gates_.controller_manager.terminating;
}

bool DeploymentModel::NewPodsMayCome() const {
  switch (action_) {
    case DeploymentAction::kRollingUpdate: return !Waits();  // kRollingWaits, kRollingStarts
    case DeploymentAction::kScaleUp:
    case DeploymentAction::kScaleUpUnderRecreate: return !Waits();  // kScalingWaits, kRecreateWaits
    case DeploymentAction::kRecreate: return Starts();              // kRecreateStarts, kRecreateWaits
    case DeploymentAction::kScaleDown:                              // kScalingDown: there are none
    case DeploymentAction::kEviction: break;                        // kReplicaSetsReplace
  }
  return true;
}

DeploymentModel::Numbers DeploymentModel::Expected() const {
  constexpr int kBound = kReplicas + kSurge;
  constexpr int kGone = kReplicas - kScaledDown;
  switch (action_) {
    case DeploymentAction::kRollingUpdate:
      if (new_pods_came_) return {kReplicas, kReplicas, 2 * kReplicas};
      return {kReplicas - kUnavailable, kSurge + kUnavailable, kBound};
    case DeploymentAction::kRecreate:
      if (new_pods_came_) return {kReplicas, kReplicas, 2 * kReplicas};
      return {0, kReplicas, kReplicas};
    case DeploymentAction::kScaleUp:
      if (new_pods_came_) return {kReplicas, kGone, kReplicas + kGone};
      return {kBound - kGone, kGone, kBound};
    case DeploymentAction::kScaleUpUnderRecreate:
      if (new_pods_came_) return {kReplicas, kGone, kReplicas + kGone};
      return {kReplicas - kGone, kGone, kReplicas};
    case DeploymentAction::kScaleDown: return {kScaledDown, kGone, kReplicas};
    case DeploymentAction::kEviction: break;
  }
  return {kReplicas, 1, kReplicas + 1};
}

// The controller writes the field when its gate is on. The apiserver keeps it when its own gate is on or the
// field is already stored.
DeploymentModel::Reports DeploymentModel::AfterAWrite(Reports before) const {
  if (!gates_.controller_manager.terminating) return Reports::kNo;
  return gates_.apiserver.terminating ? Reports::kYes : before;
}

// A Deployment reports the sum over its ReplicaSets, and nothing while one of them does not report.
void DeploymentModel::WriteDeployment() {
  if (std::count(sets_.begin(), sets_.end(), Reports::kNo) > 0)
    deployment_ = Reports::kNo;
  else if (std::count(sets_.begin(), sets_.end(), Reports::kMaybe) > 0)
    deployment_ = gates_.controller_manager.terminating ? Reports::kMaybe : Reports::kNo;
  else
    deployment_ = AfterAWrite(deployment_);
}

void DeploymentModel::AddSet() {
  sets_.push_back(Reports::kNo);
  WriteSet(sets_.size() - 1);
}

void DeploymentModel::Switch(const ClusterGates& gates, bool restarts_controller_manager) {
  const bool reported = gates_.apiserver.terminating;
  gates_ = gates;
  if (!exists_) return;
  if (restarts_controller_manager) {
    for (std::size_t i = 0; i < sets_.size(); ++i) WriteSet(i);
    WriteDeployment();
  } else if (!reported && gates.apiserver.terminating && gates.controller_manager.terminating) {
    // The field may be written now, and is written with the next change.
    for (Reports& set : sets_) set = set == Reports::kNo ? Reports::kMaybe : set;
    deployment_ = deployment_ == Reports::kNo ? Reports::kMaybe : deployment_;
  }
  if (in_flight_ && NewPodsMayCome()) LetNewPodsCome();
}

void DeploymentModel::Apply() {
  if (gates_.apiserver.policy) policy_ = wanted_policy_;
  if (!exists_) AddSet();
  exists_ = true;
  WriteDeployment();
  if (in_flight_ && NewPodsMayCome()) LetNewPodsCome();
}

// If the pods are created now, their ReplicaSets are written. If they were created before, nothing changes.
void DeploymentModel::LetNewPodsCome() {
  if (new_pods_came_) return;
  new_pods_came_ = true;
  if (action_ == DeploymentAction::kRecreate)
    AddSet();
  else
    WriteSet(old_set_);
  WriteSet(sets_.size() - 1);
  WriteDeployment();
}

void DeploymentModel::Begin() {
  in_flight_ = true;
  new_pods_came_ = false;
  old_set_ = sets_.size() - 1;
  WriteSet(old_set_);
  if (action_ == DeploymentAction::kRollingUpdate) AddSet();
  WriteDeployment();
  if (NewPodsMayCome()) LetNewPodsCome();
}

void DeploymentModel::End() {
  in_flight_ = false;
  WriteSet(old_set_);
  if (action_ == DeploymentAction::kRecreate && !new_pods_came_) AddSet();
  if (!new_pods_came_) WriteSet(sets_.size() - 1);
  WriteDeployment();
}

const Sentence& DeploymentModel::WhyPolicy() const {
  if (!wanted_policy_) return sentence::kPolicyIsNil;
  return policy_ ? sentence::kStoredStays : sentence::kDroppedForNew;
}

const Sentence& DeploymentModel::WhyPods() const {
  if (action_ == DeploymentAction::kEviction) return sentence::kReplicaSetsReplace;
  if (action_ == DeploymentAction::kScaleDown) return sentence::kScalingDown;
  if (policy_ && !gates_.controller_manager.policy) return sentence::kOffInManager;
  if (action_ == DeploymentAction::kRecreate)
    return new_pods_came_ ? sentence::kRecreateStarts : sentence::kRecreateWaits;
  if (new_pods_came_)
    return action_ == DeploymentAction::kScaleUpUnderRecreate ? sentence::kRecreateWaits
                                                              : sentence::kRollingStarts;
  return action_ == DeploymentAction::kRollingUpdate ? sentence::kRollingWaits : sentence::kScalingWaits;
}

void DeploymentModel::Check(const DeploymentSight& sight, Moment& moment) const {
  Numbers numbers = Expected();
  if (!in_flight_) {
    numbers.live = action_ == DeploymentAction::kScaleDown ? kScaledDown : kReplicas;
    numbers.terminating = 0;
  }
  const Sentence& why = in_flight_ ? WhyPods() : sentence::kConverges;
  moment.Expect("spec.podReplacementPolicy", policy_, sight.policy, WhyPolicy());
  moment.Expect("live pods", numbers.live, sight.live, why);
  moment.Expect("terminating pods", numbers.terminating, sight.terminating, why);
  moment.Expect("most pods at any time", numbers.most, sight.most, WhyPods());
  moment.Expect("status.replicas", numbers.live, sight.status_replicas, sentence::kReplicasAsEver);

  const Sentence& absent =
      gates_.controller_manager.terminating ? sentence::kNotReported : sentence::kOmitted;
  auto reported = [&](Reports reports, int number) {
    return reports == Reports::kYes ? std::optional<int>(number) : std::nullopt;
  };
  if (deployment_ != Reports::kMaybe)
    moment.Expect("status.terminatingReplicas of the Deployment", reported(deployment_, numbers.terminating),
                  sight.reported, deployment_ == Reports::kYes ? sentence::kReported : absent);
  moment.Expect("ReplicaSets", sets_.size(), sight.reported_by_sets.size(), why);
  for (std::size_t i = 0; i < std::min(sets_.size(), sight.reported_by_sets.size()); ++i)
    if (sets_[i] != Reports::kMaybe)
      moment.Expect("status.terminatingReplicas of a ReplicaSet",
                    reported(sets_[i], i == old_set_ ? numbers.terminating : 0), sight.reported_by_sets[i],
                    sets_[i] == Reports::kYes ? sentence::kReported : absent);
  if (in_flight_ && action_ == DeploymentAction::kRollingUpdate)
    moment.Expect("complete", new_pods_came_, sight.complete, sentence::kCompletion);
  if (!in_flight_) {
    moment.Expect("complete", true, sight.complete, sentence::kConverges);
    moment.Expect("a scale that is not complete", false, sight.partial_scale, sentence::kNoAnnotationLeft);
  }
}

}  // namespace terrarium::matrix
