#pragma once

// The expected state of a Deployment whose gates are switched, derived from the sentences of KEP-3973 alone.
// The model does not include or call the code under test: the numbers follow from the sizes below and a few
// predicates.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/matrix/expectation.h"

namespace terrarium::matrix {

enum class DeploymentAction {
  kRollingUpdate,
  kRecreate,
  kScaleUp,
  kScaleUpUnderRecreate,
  kScaleDown,
  kEviction
};
inline constexpr DeploymentAction kDeploymentActions[] = {
    DeploymentAction::kRollingUpdate,        DeploymentAction::kRecreate,  DeploymentAction::kScaleUp,
    DeploymentAction::kScaleUpUnderRecreate, DeploymentAction::kScaleDown, DeploymentAction::kEviction};
const char* NameOf(DeploymentAction action);
bool IsRecreate(DeploymentAction action);
bool IsRollout(DeploymentAction action);

// Of the Deployments in all cells.
inline constexpr int kReplicas = 4;
inline constexpr int kSurge = 1;
inline constexpr int kUnavailable = 1;
inline constexpr int kScaledDown = 2;

struct DeploymentGates {
  bool policy = true;       // DeploymentPodReplacementPolicy
  bool terminating = true;  // DeploymentReplicaSetTerminatingReplicas
  std::map<std::string, bool> Map() const;
  friend bool operator==(const DeploymentGates&, const DeploymentGates&) = default;
};
struct ClusterGates {
  DeploymentGates apiserver;
  DeploymentGates controller_manager;
};

// The observable state of a Deployment when the cluster is quiet.
struct DeploymentSight {
  std::optional<std::string> policy;  // spec.podReplacementPolicy as it is stored
  int live = 0;                       // pods without a deletionTimestamp
  int terminating = 0;                // pods with a deletionTimestamp
  int most = 0;                       // pods of both kinds since the action began, at the worst moment
  int status_replicas = 0;            // of the Deployment
  std::optional<int> reported;        // its status.terminatingReplicas
  std::vector<std::optional<int>> reported_by_sets;  // of its ReplicaSets, by revision
  bool complete = false;                             // NewReplicaSetAvailable
  bool partial_scale = false;                        // some ReplicaSet has replicaset-replicas-before-scale
};

class DeploymentModel {
 public:
  DeploymentModel(DeploymentAction action, std::optional<std::string> policy)
      : action_(action), wanted_policy_(std::move(policy)) {}

  // Components are restarted with these gates. The controller-manager syncs everything when it starts.
  void Switch(const ClusterGates& gates, bool restarts_controller_manager);
  // The user applies the manifest, for the first time or again.
  void Apply();
  // The action takes place. Pods that it deletes do not end.
  void Begin();
  // The deleted pods end, with all consequences.
  void End();

  void Check(const DeploymentSight& sight, Moment& moment) const;

 private:
  // Whether an object reports terminating pods. Unknown if a controller was restarted before its apiserver.
  enum class Reports { kNo, kYes, kMaybe };
  struct Numbers {
    int live;
    int terminating;
    int most;
  };

  bool Effective(const char* policy) const;
  bool Waits() const { return Effective("TerminationComplete"); }
  bool Starts() const { return Effective("TerminationStarted"); }
  bool NewPodsMayCome() const;
  void LetNewPodsCome();
  Numbers Expected() const;
  Reports AfterAWrite(Reports before) const;
  void WriteSet(std::size_t index) { sets_[index] = AfterAWrite(sets_[index]); }
  void WriteDeployment();
  void AddSet();
  const Sentence& WhyPods() const;
  const Sentence& WhyPolicy() const;

  const DeploymentAction action_;
  const std::optional<std::string> wanted_policy_;
  ClusterGates gates_;
  bool exists_ = false;
  std::optional<std::string> policy_;  // stored
  bool in_flight_ = false;
  bool new_pods_came_ = false;  // in this action, by any rule
  std::vector<Reports> sets_;
  std::size_t old_set_ = 0;  // whose pods the action deletes
  Reports deployment_ = Reports::kNo;
};

}  // namespace terrarium::matrix
