#pragma once

// Maintains spec.replicas pods for each owner: the core of the ReplicaSet and ReplicationController
// controllers, with one instance for each kind.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/replicaset/internal/pod_picks.h"
#include "controllers/replicaset/internal/pod_ranking.h"
#include "controllers/replicaset/internal/replica_index.h"
#include "controllers/replicaset/internal/replica_kind.h"
#include "controllers/replicaset/internal/replica_status.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/dropped_field.h"
#include "controllers/runtime/expectations.h"
#include "controllers/runtime/key_timers.h"

namespace prometheus {
class Histogram;
}

namespace terrarium::controllers::replicaset {

class ReplicaSetController : public std::enable_shared_from_this<ReplicaSetController> {
 public:
  ReplicaSetController(const ControllerContext& context, const ReplicaKind& kind);

  // Registers with the informers, which may outlive this controller.
  void Watch();
  void Start() { loop_.Start(); }

 private:
  // One burst of creations or deletions, and the counts that it was decided by.
  struct Burst {
    ObjectPtr owner;
    int wanted = 0;
    int live = 0;
    int terminating = 0;
    int count = 0;  // how many to create or delete
  };
  // A pod chosen for deletion, and the values that decided it.
  struct Victim {
    std::string name;
    std::string uid;
    int rank = 0;
    std::int32_t cost = 0;
    bool ready = false;
  };
  // The pods to delete, and the picker's part in the choice for the why record; null: none.
  struct Choice {
    std::vector<Victim> victims;
    api::Json picker;
  };
  // Records the effect of a burst on each pod, as Events and why records.
  class BurstReporter;

  void OwnerSeen(const api::Object& owner);
  void OwnerGone(const api::Object& owner);
  void PodSeen(const ObjectPtr& pod, bool is_new);
  void PodGone(const api::Object& pod);
  // Enqueues the owner if a pod event affects it.
  void EnqueueIfAffected(const ReplicaIndex::Effect& effect, bool expected);
  // Whether the owners report the number of their terminating pods.
  bool TerminatingMatters() const;

  api::Task<ReconcileResult> Sync(ObjectName name);
  // The owner from the informer, or as this controller wrote it last when that is newer.
  ObjectPtr Latest(const ObjectName& name) const;
  // Adopts and releases pods.
  api::Task<ReconcileResult> Claim(ObjectPtr owner);
  // Both return the first error, if any.
  api::Task<std::optional<api::Status>> CreatePods(Burst burst);
  api::Task<std::optional<api::Status>> DeletePods(Burst burst);

  // The pods to delete (in pod_choice.cc). nullopt: a picker is being asked, and its response enqueues the
  // owner again.
  std::optional<Choice> ChooseVictims(const Burst& burst);
  // The owner's picker; nullptr when there is none, its gate is off, or there is nothing to choose.
  const api::Json* PickerOf(const Burst& burst, const api::Json& owner) const;
  // Replaces the ranks of the pods, which come from their nodes, by the picker's. False: the picker is being
  // asked.
  bool RankByPicker(const Burst& burst, const api::Json& picker, std::vector<RankedPod>& pods,
                    RankingRules& rules, api::Json& record);
  void ObserveAges(const std::vector<RankedPod>& pods, int chosen) const;
  api::Task<ReconcileResult> WriteStatus(ObjectPtr owner, api::Json status);
  ReplicaCounts CountNow(PodGroup& group) const;
  void AwaitNextAvailable(const ObjectName& name);

  ControllerContext context_;
  const ReplicaKind kind_;
  Informer& owners_;
  Informer& pods_;
  ReplicaIndex index_;
  Expectations expectations_;
  // Owners as this controller wrote them, until the informer has that version.
  std::map<ObjectName, ObjectPtr> written_;
  ControllerLoop loop_;
  KeyTimers available_;
  PodPicks picks_;
  prometheus::Histogram& age_ratio_;
  DroppedField terminating_{"terminatingReplicas"};
};

}  // namespace terrarium::controllers::replicaset
