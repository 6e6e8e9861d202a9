#pragma once

// Keeps as many pods of a template as each owner asks for: the core of both controllers. One instance for each kind.

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

class ReplicaManager : public std::enable_shared_from_this<ReplicaManager> {
 public:
  ReplicaManager(const ControllerContext& context, const ReplicaKind& kind);

  // Registers with the informers, which may outlive this.
  void Watch();
  void Start() { loop_.Start(); }

 private:
  // One burst of creations or deletions: what was seen when it was decided.
  struct Burst {
    ObjectPtr owner;
    int wanted = 0;
    int live = 0;
    int terminating = 0;
    int count = 0;  // how many to create or delete
  };
  // A pod that was chosen to go, and what made it so.
  struct Victim {
    std::string name;
    std::string uid;
    int rank = 0;
    std::int32_t cost = 0;
    bool ready = false;
  };
  // Who goes, and what a picker had to do with it, for the record; null: nothing.
  struct Choice {
    std::vector<Victim> victims;
    api::Json picker;
  };
  // Tells what a burst did to each pod, in Events and in the log of why.
  class Telling;

  void OwnerSeen(const api::Object& owner);
  void OwnerGone(const api::Object& owner);
  void PodSeen(const ObjectPtr& pod, bool is_new);
  void PodGone(const api::Object& pod);
  // Lets the owner be looked at, if a pod's event makes a difference to it.
  void Heed(const ReplicaIndex::Effect& effect, bool expected);
  // Whether the owners tell how many of their pods are terminating.
  bool TerminatingMatters() const;

  api::Task<ReconcileResult> Sync(ObjectName name);
  // The owner as the informer has it, or as it was last written when that is newer.
  ObjectPtr Latest(const ObjectName& name) const;
  // Adopts and releases pods.
  api::Task<ReconcileResult> Claim(ObjectPtr owner);
  // Both say why it did not work, if so.
  api::Task<std::optional<api::Status>> CreatePods(Burst burst);
  api::Task<std::optional<api::Status>> DeletePods(Burst burst);

  // Which pods go, in pod_choice.cc. nullopt: a picker is being asked, and the answer brings the owner here again.
  std::optional<Choice> ChooseVictims(const Burst& burst);
  // The owner's picker; nullptr when there is none, its gate is off, or there is nothing to choose.
  const api::Json* PickerOf(const Burst& burst, const api::Json& owner) const;
  // Sets the ranks of the pods, which have those by their nodes. False: the picker is being asked.
  bool RankByPicker(const Burst& burst, const api::Json& picker, std::vector<RankedPod>& pods, RankingRules& rules,
                    api::Json& record);
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
  // Owners as this has written them, until the informer has them.
  std::map<ObjectName, ObjectPtr> written_;
  ControllerLoop loop_;
  KeyTimers available_;
  PodPicks picks_;
  prometheus::Histogram& age_ratio_;
  DroppedField terminating_{"terminatingReplicas"};
};

}  // namespace terrarium::controllers::replicaset
