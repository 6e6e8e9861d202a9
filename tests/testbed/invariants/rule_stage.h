#pragma once

// Feeds made-up changes to a rule, one for each revision, and collects its reports.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// Objects are in the namespace default, and their uid is their name. Pods and ReplicaSets have the label
// app=web, which ReplicaSets and Deployments select.
PodFacts LivePod(const std::string& name, const std::string& owner);
PodFacts ReadyPod(const std::string& name, const std::string& owner);
PodFacts TerminatingPod(const std::string& name, const std::string& owner);
PodFacts EndedPod(const std::string& name, const std::string& owner);
// Observed by its controller, with empty counts.
ReplicaSetFacts ReplicaSetOf(const std::string& deployment, const std::string& name, std::int64_t replicas);
// Observed by its controller; no surge.
DeploymentFacts TerminationCompleteDeployment(const std::string& name, std::int64_t replicas);

// A pod of a Job, with the finalizer; without an index for -1.
PodFacts JobPod(PodFacts pod, std::int64_t index = -1);
PodFacts SucceededPod(const std::string& name, const std::string& owner);
// Non-indexed, with empty counts.
JobFacts JobNamed(const std::string& name);

api::LabelSelector Labels(const std::string& selector);
HeaderPtr HeaderNamed(const std::string& name, const std::string& app = "web");

class RuleStage {
 public:
  explicit RuleStage(const std::function<std::unique_ptr<Rule>(Report)>& make);
  RuleStage(const RuleStage&) = delete;

  void Put(const PodFacts& pod);
  void Put(const ReplicaSetFacts& set);
  void Put(const DeploymentFacts& deployment);
  void Put(const JobFacts& job);
  void Put(const DaemonSetFacts& set);
  void Put(const StatefulSetFacts& set);
  void RemovePod(const std::string& name);
  void RemoveReplicaSet(const std::string& name);
  void RemoveDeployment(const std::string& name);
  void RemoveJob(const std::string& name);
  // An existing pod is adopted.
  void Adopt(const PodFacts& pod);
  void Adopt(const ReplicaSetFacts& set);
  void Idle();

  // The reports since the last call.
  std::vector<std::string> Take();
  const std::vector<Violation>& violations() const { return violations_; }

  std::string writer{kControllerManager};  // of the next changes
  api::Time now{std::chrono::seconds(1000)};
  std::int64_t revision = 100;  // of the last change

 private:
  template <typename Facts>
  using Known = std::map<std::string, std::shared_ptr<const Facts>>;
  template <typename Facts>
  void Change(Known<Facts>& known, const std::string& name, std::shared_ptr<const Facts> after, bool created);
  void Notify(const Moment& moment, const PodPtr& before, const PodPtr& after);
  void Notify(const Moment& moment, const ReplicaSetPtr& before, const ReplicaSetPtr& after);
  void Notify(const Moment& moment, const DeploymentPtr& before, const DeploymentPtr& after);
  void Notify(const Moment& moment, const JobPtr& before, const JobPtr& after);
  void Notify(const Moment& moment, const DaemonSetPtr& before, const DaemonSetPtr& after);
  void Notify(const Moment& moment, const StatefulSetPtr& before, const StatefulSetPtr& after);

  std::vector<Violation> violations_;
  std::size_t taken_ = 0;
  std::unique_ptr<Rule> rule_;
  Known<PodFacts> pods_;
  Known<ReplicaSetFacts> sets_;
  Known<DeploymentFacts> deployments_;
  Known<JobFacts> jobs_;
  Known<DaemonSetFacts> daemon_sets_;
  Known<StatefulSetFacts> stateful_sets_;
};

}  // namespace terrarium::testbed::invariants
