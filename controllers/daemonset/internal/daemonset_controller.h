#pragma once

// Runs one pod of each DaemonSet on each node that its template fits, and replaces the pods when the template
// changes.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/daemonset/internal/daemon_index.h"
#include "controllers/daemonset/internal/failed_pods.h"
#include "controllers/daemonset/internal/rollout.h"
#include "controllers/history/revision_history.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/expectations.h"
#include "controllers/runtime/key_timers.h"

namespace terrarium::controllers::daemonset {

class DaemonSetController : public std::enable_shared_from_this<DaemonSetController> {
 public:
  explicit DaemonSetController(const ControllerContext& context);

  // Registers with the informers, which may outlive this controller.
  void Watch();
  void Start() { loop_.Start(); }

 private:
  using Failure = std::optional<api::Status>;

  // The DaemonSet that a sync is about, as the informer showed it.
  struct Subject {
    ObjectPtr owner;
    std::shared_ptr<const api::Json> document;
    std::string hash = {};            // of the current revision
    std::vector<ObjectPtr> old = {};  // the other revisions, oldest first

    const ObjectName& name() const { return owner->name(); }
    const std::string& uid() const { return owner->header().uid; }
  };
  using SubjectPtr = std::shared_ptr<Subject>;

  // Pods to create and delete in one step, and why.
  struct Step {
    std::vector<std::string> create = {};  // nodes
    struct Victim {
      std::string pod;
      std::string uid;
      std::string node;
    };
    std::vector<Victim> remove = {};
    std::string_view create_rule;
    std::string_view remove_rule;
    api::Json saw;
  };
  class StepReporter;

  // The revisions of a DaemonSet as the last sync found them. Valid while neither spec nor revisions change.
  struct KnownHistory {
    std::string uid;
    std::int64_t generation = 0;
    std::vector<ObjectPtr> candidates;
    std::string hash;
    std::vector<ObjectPtr> old;
  };

  // Events (daemonset_events.cc).
  void OwnerSeen(const api::Object& owner);
  void OwnerGone(const api::Object& owner);
  void PodSeen(const ObjectPtr& pod, bool is_new);
  void PodGone(const api::Object& pod);
  void NodeSeen(const ObjectPtr& node);
  void RevisionSeen(const api::Object* old, const api::Object& revision);
  void EnqueueController(const api::Object& revision);

  api::Task<ReconcileResult> Sync(ObjectName name);
  // The owner's nodes and pods; nullptr when the owner is gone or replaced.
  DaemonIndex::Owner* Current(const Subject& subject);
  // Adopts and releases pods.
  api::Task<Failure> ClaimPods(SubjectPtr subject);
  // Creates and deletes what the nodes need, then takes the next step of a rolling update.
  api::Task<Failure> Update(SubjectPtr subject);
  Step ManageStep(const Subject& subject, DaemonIndex::Owner& owner);
  Step RolloutStepOf(const Subject& subject, const DaemonIndex::Owner& owner) const;
  // Whether this failed or succeeded pod is deleted now.
  bool DeletesEnded(const Subject& subject, const std::string& node, const DaemonPod& pod);
  void RecordEvent(const Subject& subject, std::string_view type, std::string_view reason,
                   std::string message) const;
  api::Task<ReconcileResult> WriteStatus(SubjectPtr subject, bool observed);
  void AwaitNextChange(const ObjectName& name);

  // Writes of pods (pod_steps.cc). Return the first error, if any.
  api::Task<Failure> Take(SubjectPtr subject, Step step);
  api::Task<Failure> CreatePods(SubjectPtr subject, std::shared_ptr<const Step> step);
  api::Task<Failure> DeletePods(SubjectPtr subject, std::shared_ptr<const Step> step);

  // Revisions (daemon_history.cc).
  // Finds or creates the revision of the current template; sets `hash` and `old`.
  api::Task<Failure> ReadHistory(SubjectPtr subject);
  api::Task<Failure> BuildHistory(SubjectPtr subject, std::vector<ObjectPtr> claimed);
  // A revision without the label that names it gets its own name as the label.
  api::Task<api::Client::Written> LabelRevision(ObjectPtr revision);
  // Keeps the newest of several revisions of the current template.
  api::Task<api::Client::Written> KeepOne(SubjectPtr subject, std::vector<ObjectPtr> current);
  api::Task<api::Client::Written> Snapshot(SubjectPtr subject, std::int64_t number);
  api::Task<Failure> CountCollision(SubjectPtr subject, api::Status collision);
  // Deletes old revisions above revisionHistoryLimit.
  api::Task<Failure> TruncateHistory(SubjectPtr subject);

  ControllerContext context_;
  Informer& daemon_sets_;
  Informer& pods_;
  Informer& nodes_;
  history::RevisionHistory history_;
  DaemonIndex index_;
  Expectations expectations_;
  FailedPods failed_pods_;
  std::map<ObjectName, KnownHistory> known_histories_;
  // The revision of the status that this controller wrote last. A sync waits until the informer has it.
  std::map<ObjectName, std::int64_t> written_;
  ControllerLoop loop_;
  KeyTimers changes_;
};

}  // namespace terrarium::controllers::daemonset
