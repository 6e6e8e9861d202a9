#pragma once

// All Deployments: hears what happens to them, their ReplicaSets and their pods, and looks at one after the other.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
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
#include "controllers/deployment/internal/round.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/dropped_field.h"
#include "controllers/runtime/key_timers.h"

namespace terrarium::controllers::deployment {

// Indexes of the informers.
inline constexpr const char* kByController = "deployment/controller";  // ReplicaSets, by the uid of their Deployment
inline constexpr const char* kOrphans = "deployment/orphans";          // ReplicaSets without a controller, by label
inline constexpr const char* kBySelector = "deployment/selector";      // Deployments, by a label that they select

class Deployments : public std::enable_shared_from_this<Deployments> {
 public:
  explicit Deployments(const ControllerContext& context);

  // Registers with the informers, which may outlive this.
  void Watch();
  void Start() { loop_.Start(); }

 private:
  // What happens, in deployment_events.cc.
  void WatchDeployments();
  void WatchReplicaSets();
  void WatchPods();
  void DeploymentSeen(const api::Object& deployment);
  void DeploymentGone(const api::Object& deployment);
  void ReplicaSetSeen(const api::Object* old, const api::Object& set);
  void ReplicaSetGone(const api::Object& set);
  void PodEmptied(const std::optional<PodCounts::Owner>& replica_set);
  // The Deployment that controls a ReplicaSet with that document; nullptr when there is none.
  ObjectPtr ControllerDeployment(const api::Json& set, const std::string& ns) const;
  void WakeController(const api::Json& set, const std::string& ns);
  void WakeAdopters(const api::Object& orphan);
  // Pods are counted only while there is a Deployment that asks for it.
  void SetRecreating(const ObjectName& deployment, bool recreating);

  // A look, in deployment_sync.cc. What a look has changed comes back as an event and makes for the next one.
  api::Task<ReconcileResult> Sync(ObjectName name);
  api::Task<ReconcileResult> RefuseEverything(ObjectPtr deployment);
  struct Claims {
    std::vector<FactsPtr> owned;
    std::vector<ObjectPtr> to_decide;  // to be adopted or released
  };
  Claims FindSets(const api::Object& deployment, const api::LabelSelector& selector);
  api::Task<api::Result<bool>> ClaimSets(ObjectPtr deployment, api::LabelSelector selector,
                                         std::vector<ObjectPtr> sets);
  std::uint64_t DigestOf(const api::Object& deployment);
  api::Task<ReconcileResult> Step(RoundPtr round);
  void NoteNewSet(Round& round) const;
  api::Task<ReconcileResult> Scale(RoundPtr round);
  api::Task<ReconcileResult> Roll(RoundPtr round);
  api::Task<ReconcileResult> Recreate(RoundPtr round);
  bool OldPodsRun(const Round& round) const;
  api::Task<ReconcileResult> ResizeSets(RoundPtr round, std::vector<ScaledSet> sizes, std::string rule);
  api::Task<ReconcileResult> Finish(RoundPtr round);
  api::Task<api::Result<bool>> CleanUp(RoundPtr round);

  // In new_replica_set.cc.
  api::Task<ReconcileResult> CreateNew(RoundPtr round);
  api::Task<ReconcileResult> NotCreated(RoundPtr round, std::string set, api::Status why);
  api::Task<ReconcileResult> NameTaken(RoundPtr round, std::string set);

  // In rollback.cc.
  api::Task<ReconcileResult> RollBack(RoundPtr round, std::int64_t revision);
  api::Task<ReconcileResult> EndRollback(RoundPtr round, const ReplicaSetFacts* target);

  // In deployment_status.cc.
  enum class Judge { kCountsOnly, kProgress };
  api::Task<ReconcileResult> WriteStatus(RoundPtr round, Judge judge);
  api::Json NextStatus(const Round& round, Judge judge);
  // Comes back when lack of progress becomes a failure.
  void SetDeadline(const ObjectName& name, std::optional<api::Time> due);

  ControllerContext context_;
  Informer& deployments_;
  Informer& replica_sets_;
  Informer& pods_;
  FactsCache facts_;
  PodCounts pod_counts_;
  std::set<ObjectName> recreating_;
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
