#pragma once

// The Deployment controller: observes Deployments, their ReplicaSets and their pods, and syncs one Deployment
// at a time.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/selector/label_selector.h"
#include "controllers/controller.h"
#include "controllers/deployment/internal/own_writes.h"
#include "controllers/deployment/internal/pod_counts.h"
#include "controllers/deployment/internal/replica_set_facts.h"
#include "controllers/deployment/internal/replica_set_writes.h"
#include "controllers/deployment/internal/sync_state.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/dropped_field.h"
#include "controllers/runtime/key_timers.h"

namespace terrarium::controllers::deployment {

// Indexes of the informers.
inline constexpr const char* kByController =
    "deployment/controller";                                   // ReplicaSets, by the uid of their Deployment
inline constexpr const char* kOrphans = "deployment/orphans";  // ReplicaSets without a controller, by label
inline constexpr const char* kBySelector = "deployment/selector";  // Deployments, by a label that they select

class DeploymentController : public std::enable_shared_from_this<DeploymentController> {
 public:
  explicit DeploymentController(const ControllerContext& context);

  // Registers with the informers, which may outlive this.
  void Watch();
  void Start() { loop_.Start(); }

 private:
  void WatchDeployments();
  void WatchReplicaSets();
  void WatchPods();

  // In deployment_events.cc.
  void DeploymentSeen(const api::Object& deployment);
  void DeploymentGone(const api::Object& deployment);
  void ReplicaSetSeen(const api::Object* old, const api::Object& set);
  void ReplicaSetGone(const api::Object& set);
  void PodLost(const std::optional<PodCounts::Loss>& loss);
  // The Deployment that controls a ReplicaSet; nullptr when there is none.
  ObjectPtr ControllerDeployment(const api::Object& set) const;
  void WakeController(const api::Object& set);
  void WakeAdopters(const api::Object& orphan);
  // Why the pods of a Deployment are counted here.
  struct PodWatch {
    bool recreates = false;        // Recreate waits for the last pod of the old ReplicaSets
    bool waits = false;            // TerminationComplete waits for every pod that terminates
    std::int64_t terminating = 0;  // when the status was last brought up to date
  };
  // Pods are counted only while a Deployment needs it.
  void SetPodWatch(const ObjectName& deployment, bool PodWatch::*reason, bool applies);

  // A sync. The changes it makes come back as events, which cause the next one.
  api::Task<ReconcileResult> Sync(ObjectName name);
  api::Task<ReconcileResult> RefuseEverything(ObjectPtr deployment);
  struct Claims {
    std::vector<FactsPtr> owned;
    std::vector<ObjectPtr> to_decide;  // to be adopted or released
  };
  Claims FindSets(const api::Object& deployment, const api::LabelSelector& selector);
  enum class Adoption { kNone, kAdopted };
  api::Task<api::Result<Adoption>> ClaimSets(ObjectPtr deployment, api::LabelSelector selector,
                                             std::vector<ObjectPtr> sets);
  void CountPods(const api::Object& deployment, std::vector<FactsPtr>& sets);
  std::uint64_t DigestOf(const api::Object& deployment);
  api::Task<ReconcileResult> Step(SyncStatePtr sync);
  void NoteNewSet(SyncState& sync) const;

  // The decisions, each in its own file: scaling.cc, rolling.cc, recreate.cc.
  api::Task<ReconcileResult> Scale(SyncStatePtr sync);
  api::Task<ReconcileResult> Roll(SyncStatePtr sync);
  api::Task<ReconcileResult> Recreate(SyncStatePtr sync);
  bool OldPodsRun(const SyncState& sync) const;

  // In completion.cc.
  api::Task<ReconcileResult> ResizeSets(SyncStatePtr sync, std::vector<ScaledSet> sizes, std::string rule);
  api::Task<ReconcileResult> Finish(SyncStatePtr sync);
  api::Task<api::Result<void>> CleanUp(SyncStatePtr sync);

  // In new_replica_set.cc.
  api::Task<ReconcileResult> CreateNew(SyncStatePtr sync);
  api::Task<ReconcileResult> NotCreated(SyncStatePtr sync, std::string set, api::Status why);
  api::Task<ReconcileResult> NameTaken(SyncStatePtr sync, std::string set);

  // In rollback.cc.
  api::Task<ReconcileResult> RollBack(SyncStatePtr sync, std::int64_t revision);
  api::Task<ReconcileResult> EndRollback(SyncStatePtr sync, const ReplicaSetFacts* target);

  // In deployment_status.cc.
  enum class Judge { kCountsOnly, kProgress };
  api::Task<ReconcileResult> WriteStatus(SyncStatePtr sync, Judge judge);
  api::Json NextStatus(const SyncState& sync, Judge judge);
  void NoteTerminating(const SyncState& sync);
  // Enqueues the Deployment at the time when lack of progress becomes a failure.
  void SetDeadline(const ObjectName& name, std::optional<api::Time> due);

  ControllerContext context_;
  Informer& deployments_;
  Informer& replica_sets_;
  Informer& pods_;
  FactsCache facts_;
  PodCounts pod_counts_;
  std::map<ObjectName, PodWatch> pod_watches_;
  struct Digest {
    std::string uid;
    std::int64_t generation = 0;
    std::uint64_t digest = 0;
  };
  std::map<ObjectName, Digest> digests_;  // of the Deployments' templates
  OwnWrites own_;
  ReplicaSetWrites writes_;
  ControllerLoop loop_;
  KeyTimers deadlines_;
  DroppedField terminating_{"terminatingReplicas"};
};

}  // namespace terrarium::controllers::deployment
