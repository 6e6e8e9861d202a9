#pragma once

// A Deployment in numbers: users change it, ReplicaSets and pods follow in an order drawn from a seed, and a
// controller drives it with only the arithmetic under test. Every decision is checked when it is made.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/base/prng.h"
#include "api/json.h"
#include "controllers/deployment/internal/proportional_scaling.h"
#include "controllers/deployment/internal/replica_sets.h"

namespace terrarium::controllers::deployment {

struct ModelOptions {
  bool rolling = true;
  bool waits_for_termination = false;
  bool policy_changes = false;
  bool scales_down = true;  // and removes surge
  bool pods_get_evicted = true;
  bool counts_real_pods = false;  // and fails when there are too many, whatever the ReplicaSets report
  // ReplicaSet statuses are stale: pods that the controller created are missing, pods that it deleted or that
  // have failed are counted. The Deployment controller counts pods itself.
  bool statuses_lag = false;
  bool keeps_history = false;  // for the analysis of a failure
};

class RolloutModel {
 public:
  RolloutModel(std::uint64_t seed, const ModelOptions& options);

  // One random event.
  void Step();
  // No more events from outside: all pods succeed in starting and ending, until nothing changes.
  void LeaveAlone();
  // One ReplicaSet, of the current template, has all the pods, and no earlier scale is unfinished.
  void CheckSettled();

  // The first failure with its history; empty if there was none.
  const std::string& failure() const { return failure_; }

 private:
  struct ReplicaSet {
    ReplicaSetSize size;
    int revision = 0;  // of the template
    std::int64_t starting = 0;
    std::int64_t available = 0;
    std::int64_t terminating = 0;
    // Events that the ReplicaSet controller has yet to see:
    std::int64_t unseen = 0;          // of the terminating, deletions
    std::int64_t unseen_created = 0;  // of the starting and available ones, creations
    std::int64_t unseen_failed = 0;   // pods that have failed
  };

  DeploymentSize Size() const;
  std::int64_t PodsMax() const { return Size().PodsMax(); }
  std::vector<ReplicaSetSize> Sizes() const;
  std::size_t NewIndex() const;
  bool IsSaturated(std::size_t index) const;

  void Happen();

  // Actions of users.
  void Scale();
  void ChangeTemplate();
  void ChangeStrategy();

  // Actions of the ReplicaSet controller and the kubelet.
  void SyncReplicaSet(ReplicaSet& set);
  void SeeSome(ReplicaSet& set);
  void FailPods(ReplicaSet& set);
  void MovePods(ReplicaSet& set, std::int64_t ReplicaSet::*from, std::int64_t ReplicaSet::*to);
  ReplicaSet* AnySet();

  // Actions of the Deployment controller.
  void CountPods();
  void SyncDeployment();
  void SyncScale();
  void SyncRolling();
  void SyncRecreate();
  void GrowNew();
  void Resize(std::size_t index, std::int64_t replicas);
  void ScaleAll();

  void CheckScaled(std::span<const ReplicaSetSize> before, const std::vector<ScaledSet>& scaled);
  void CheckGrowth(std::span<const ReplicaSetSize> before);
  void CheckRealPods();
  void CheckAvailability(std::span<const ReplicaSetSize> before);

  std::int64_t Below(std::int64_t bound) { return static_cast<std::int64_t>(random_.Below(bound)); }
  api::Json RandomFencepost();
  void Note(const char* what);
  void Expect(bool holds, const char* what);

  api::Prng random_;
  ModelOptions options_;
  std::int64_t replicas_ = 0;
  api::Json max_surge_;
  api::Json max_unavailable_;
  bool paused_ = false;
  int revision_ = 0;
  std::vector<ReplicaSet> sets_;
  std::string history_;
  std::string failure_;
};

}  // namespace terrarium::controllers::deployment
