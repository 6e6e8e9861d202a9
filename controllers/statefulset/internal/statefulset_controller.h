#pragma once

// Watches StatefulSets and their pods, and brings the pods of each set to its spec: creates them in order,
// replaces ended and outdated ones, deletes surplus ones, and writes the status. The decisions are in the
// other headers of this folder.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/history/revision_history.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/key_timers.h"
#include "controllers/runtime/selector_index.h"
#include "controllers/statefulset/internal/claim_control.h"
#include "controllers/statefulset/internal/replica_plan.h"
#include "controllers/statefulset/internal/reporter.h"
#include "controllers/statefulset/internal/set_metrics.h"
#include "controllers/statefulset/internal/set_spec.h"
#include "controllers/statefulset/internal/set_states.h"
#include "controllers/statefulset/internal/set_status.h"

namespace terrarium::controllers::statefulset {

// Under Parallel, pods are processed in batches of 1, 2, 4, ... up to this many.
inline constexpr std::size_t kBatchMax = 500;

class StatefulSetController : public std::enable_shared_from_this<StatefulSetController> {
 public:
  explicit StatefulSetController(const ControllerContext& context);

  // Registers with the informers, which may outlive this controller.
  void Watch();
  void Start() { loop_.Start(); }

 private:
  struct SyncState;
  using SyncPtr = std::shared_ptr<SyncState>;
  // The result of a step of a sync.
  struct Outcome {
    bool ends = false;                 // nothing else is done to pods in this sync
    std::optional<api::Status> error;  // the first one, to retry

    bool Stops() const { return ends || error; }
    void Fail(const api::Status& status) {
      if (!error) error = status;
    }
  };
  using Step = api::Task<Outcome> (StatefulSetController::*)(SyncPtr sync, std::size_t first,
                                                             std::size_t count);

  // statefulset_controller.cc: informer events.
  void SetSeen(const ObjectPtr& set, bool is_new);
  void SetGone(const api::Object& set);
  void PodSeen(const api::Object* old, const ObjectPtr& pod);
  void OrphanSeen(const api::Object* old, const api::Object& pod);
  void PodGone(const api::Object& pod);
  void RemovePod(const SetStatePtr& state, const ObjectName& pod);
  void RevisionSeen(const api::Object& revision);
  void Enqueue(const SetState& state);
  // Whether the informers show this controller's own writes for the set. Forgets deletions that they show.
  bool SeesOwnWrites(SetState& state, const api::Object& set) const;

  // statefulset_sync.cc: one sync of a set, step by step.
  api::Task<ReconcileResult> Sync(ObjectName name);
  api::Task<ReconcileResult> Run(SyncPtr sync);
  api::Task<api::Result<void>> ClaimPods(SyncPtr sync);
  api::Task<api::Result<void>> FindRevisions(SyncPtr sync);
  api::Task<api::Result<void>> WriteStatus(SyncPtr sync);
  api::Task<api::Result<void>> TruncateHistory(SyncPtr sync);
  void AwaitNextAvailable(const SyncState& sync);

  // statefulset_pods.cc: creating, deleting and restoring pods.
  api::Task<Outcome> Act(SyncPtr sync);
  // One item after the other, or in batches under Parallel.
  api::Task<Outcome> ForEach(SyncPtr sync, std::size_t count, Step step);
  api::Task<Outcome> ProcessReplicas(SyncPtr sync, std::size_t first, std::size_t count);
  api::Task<Outcome> ProcessCondemnedClaims(SyncPtr sync, std::size_t first, std::size_t count);
  api::Task<Outcome> ProcessCondemned(SyncPtr sync, std::size_t first, std::size_t count);
  api::Task<Outcome> UpdatePods(SyncPtr sync);
  // Creates the claims of a pod that is about to be created. False: the pod is not created now.
  api::Task<bool> PrepareClaims(SyncPtr sync, const Replica* replica, Outcome* outcome);
  api::Task<Outcome> CreatePods(SyncPtr sync, std::vector<const Replica*> replicas);
  api::Task<Outcome> RestoreClaims(SyncPtr sync, const Replica* replica);
  api::Task<Outcome> RestorePod(SyncPtr sync, const Replica* replica);
  api::Task<api::Result<void>> UpdatePod(SyncPtr sync, const Replica* replica);
  api::Task<Outcome> DeletePods(SyncPtr sync, std::vector<StatefulPodPtr> pods,
                                std::function<std::string(const PodFacts&)> rule);

  ControllerContext context_;
  Informer& sets_;
  Informer& pods_;
  history::RevisionHistory history_;
  Reporter reporter_;
  ClaimControl claims_;
  SetMetrics metrics_;
  SetStates states_;
  SelectorIndex selectors_;
  KeyTimers available_;
  // For a sync that waits for a write which no event will show: a list may have replaced the watch meanwhile.
  KeyTimers stale_;
  ControllerLoop loop_;  // last member: its reconciles use all of the above
};

// One sync of a set. It acts on the state that it read at its start, since everything may change at each
// co_await.
struct StatefulSetController::SyncState {
  SetStatePtr state;
  ObjectPtr set;
  std::shared_ptr<const api::Json> document;  // of the set
  SetSpec spec;
  api::Time now{};

  std::vector<ObjectPtr> revisions;  // oldest first; lacks a revision created by this sync
  ObjectPtr current;
  ObjectPtr update;
  std::vector<StatefulPodPtr> pods;  // that the set controls and selects
  SetPods sorted;
  SetStatus status;
  std::shared_ptr<const api::Json> saw;  // for why records

  const std::string& Name() const { return set->header().name; }
  // The claims of a pod of the set; `uid` is empty if the pod does not exist.
  PodClaims ClaimsOf(const std::string& pod, const std::string& uid, int ordinal, bool condemned) const;
};

}  // namespace terrarium::controllers::statefulset
