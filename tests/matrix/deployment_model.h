#pragma once

// What becomes of a Deployment whose gates are switched, by the sentences of KEP-3973 alone. Nothing here
// includes or asks the code under test: the numbers follow from the sizes below and a few predicates.

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

// What can be seen of a Deployment at a moment when nothing moves.
struct DeploymentSight {
  std::optional<std::string> policy;  // spec.podReplacementPolicy as it is stored
  int live = 0;                       // pods without a deletionTimestamp
  int terminating = 0;                // pods with one
  int most = 0;                       // pods of both kinds since the action began, at the worst moment
  int status_replicas = 0;            // of the Deployment
  std::optional<int> told;            // its status.terminatingReplicas
  std::vector<std::optional<int>> told_by_sets;  // of its ReplicaSets, by revision
  bool complete = false;                         // NewReplicaSetAvailable
  bool partial_scale = false;                    // some ReplicaSet has replicaset-replicas-before-scale
};

class DeploymentModel {
 public:
  DeploymentModel(DeploymentAction action, std::optional<std::string> policy)
      : action_(action), wanted_policy_(std::move(policy)) {}

  // Components are restarted with these gates. The controller-manager looks at everything when it starts.
  void Switch(const ClusterGates& gates, bool restarts_controller_manager);
  // The user applies the manifest, for the first time or again.
  void Apply();
  // The action takes place; pods that it deletes do not end.
  void Begin();
  // They end, and all that comes of it.
  void End();

  void Check(const DeploymentSight& sight, Moment& moment) const;

 private:
  // Whether an object tells of terminating pods. Nobody knows where a controller was faster than its
  // apiserver.
  enum class Tells { kNo, kYes, kMaybe };
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
  Tells AfterAWrite(Tells before) const;
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
  bool new_pods_came_ = false;  // in this action, whoever let them
  std::vector<Tells> sets_;
  std::size_t old_set_ = 0;  // whose pods the action deletes
  Tells deployment_ = Tells::kNo;
};

}  // namespace terrarium::matrix
