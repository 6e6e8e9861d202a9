#include "tests/testbed/invariants/rule_stage.h"

#include <utility>

namespace terrarium::testbed::invariants {

HeaderPtr HeaderNamed(const std::string& name, const std::string& app) {
  auto header = std::make_shared<api::ObjectHeader>();
  header->ns = "default";
  header->name = name;
  header->uid = name;
  header->labels = {{"app", app}};
  return header;
}

api::LabelSelector Labels(const std::string& selector) { return *api::LabelSelector::Parse(selector); }

PodFacts LivePod(const std::string& name, const std::string& owner) {
  PodFacts pod;
  pod.header = HeaderNamed(name);
  pod.owner = owner;
  pod.live = true;
  return pod;
}

PodFacts ReadyPod(const std::string& name, const std::string& owner) {
  PodFacts pod = LivePod(name, owner);
  pod.ready = true;
  pod.ready_since = api::Time(std::chrono::seconds(1000));
  return pod;
}

PodFacts TerminatingPod(const std::string& name, const std::string& owner) {
  PodFacts pod = ReadyPod(name, owner);
  pod.live = false;
  pod.terminating = true;
  return pod;
}

PodFacts EndedPod(const std::string& name, const std::string& owner) {
  PodFacts pod = LivePod(name, owner);
  pod.live = false;
  return pod;
}

PodFacts JobPod(PodFacts pod, std::int64_t index) {
  pod.of_job = true;
  pod.tracked = true;
  if (index >= 0) pod.index = index;
  return pod;
}

PodFacts SucceededPod(const std::string& name, const std::string& owner) {
  PodFacts pod = EndedPod(name, owner);
  pod.succeeded = true;
  return pod;
}

JobFacts JobNamed(const std::string& name) {
  JobFacts job;
  job.header = HeaderNamed(name);
  job.selector = Labels("app=web");
  job.status.terminating = 0;
  return job;
}

ReplicaSetFacts ReplicaSetOf(const std::string& deployment, const std::string& name, std::int64_t replicas) {
  ReplicaSetFacts set;
  set.header = HeaderNamed(name);
  set.owner = deployment;
  set.observed_generation = 1;
  set.replicas = replicas;
  set.selector = Labels("app=web");
  set.template_labels = Labels("app=web");
  set.status.terminating = 0;
  return set;
}

DeploymentFacts TerminationCompleteDeployment(const std::string& name, std::int64_t replicas) {
  DeploymentFacts deployment;
  deployment.header = HeaderNamed(name);
  deployment.observed_generation = 1;
  deployment.replicas = replicas;
  deployment.waits_for_termination = true;
  deployment.selector = Labels("app=web");
  deployment.status.terminating = 0;
  return deployment;
}

RuleStage::RuleStage(const std::function<std::unique_ptr<Rule>(Report)>& make)
    : rule_(make([this](const Violation& violation) { violations_.push_back(violation); })) {}

template <typename Facts>
void RuleStage::Change(Known<Facts>& known, const std::string& name, std::shared_ptr<const Facts> after,
                       bool created) {
  std::shared_ptr<const Facts> before = known[name];
  known[name] = after;
  Notify({++revision, now, writer, created && before == nullptr}, before, after);
}

void RuleStage::Notify(const Moment& moment, const PodPtr& before, const PodPtr& after) {
  rule_->OnPod(moment, before, after);
}
void RuleStage::Notify(const Moment& moment, const ReplicaSetPtr& before, const ReplicaSetPtr& after) {
  rule_->OnReplicaSet(moment, before, after);
}
void RuleStage::Notify(const Moment& moment, const DeploymentPtr& before, const DeploymentPtr& after) {
  rule_->OnDeployment(moment, before, after);
}
void RuleStage::Notify(const Moment& moment, const JobPtr& before, const JobPtr& after) {
  rule_->OnJob(moment, before, after);
}
void RuleStage::Notify(const Moment& moment, const DaemonSetPtr& before, const DaemonSetPtr& after) {
  rule_->OnDaemonSet(moment, before, after);
}

void RuleStage::Notify(const Moment& moment, const StatefulSetPtr& before, const StatefulSetPtr& after) {
  rule_->OnStatefulSet(moment, before, after);
}

void RuleStage::Put(const PodFacts& pod) {
  Change(pods_, pod.header->name, std::make_shared<const PodFacts>(pod), true);
}
void RuleStage::Put(const ReplicaSetFacts& set) {
  Change(sets_, set.header->name, std::make_shared<const ReplicaSetFacts>(set), true);
}
void RuleStage::Put(const DeploymentFacts& deployment) {
  Change(deployments_, deployment.header->name, std::make_shared<const DeploymentFacts>(deployment), true);
}
void RuleStage::Put(const JobFacts& job) {
  Change(jobs_, job.header->name, std::make_shared<const JobFacts>(job), true);
}
void RuleStage::Put(const DaemonSetFacts& set) {
  Change(daemon_sets_, set.header->name, std::make_shared<const DaemonSetFacts>(set), true);
}
void RuleStage::Put(const StatefulSetFacts& set) {
  Change(stateful_sets_, set.header->name, std::make_shared<const StatefulSetFacts>(set), true);
}
void RuleStage::RemovePod(const std::string& name) { Change(pods_, name, PodPtr(), false); }
void RuleStage::RemoveReplicaSet(const std::string& name) { Change(sets_, name, ReplicaSetPtr(), false); }
void RuleStage::RemoveDeployment(const std::string& name) {
  Change(deployments_, name, DeploymentPtr(), false);
}
void RuleStage::RemoveJob(const std::string& name) { Change(jobs_, name, JobPtr(), false); }
void RuleStage::Adopt(const PodFacts& pod) {
  Change(pods_, pod.header->name, std::make_shared<const PodFacts>(pod), false);
}
void RuleStage::Adopt(const ReplicaSetFacts& set) {
  Change(sets_, set.header->name, std::make_shared<const ReplicaSetFacts>(set), false);
}

void RuleStage::Idle() { rule_->OnIdle({revision, now, "", false}); }

std::vector<std::string> RuleStage::Take() {
  std::vector<std::string> texts;
  for (; taken_ < violations_.size(); ++taken_) texts.push_back(violations_[taken_].text);
  return texts;
}

}  // namespace terrarium::testbed::invariants
