#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/base/env.h"
#include "api/base/executor.h"
#include "api/base/task.h"
#include "api/object_name.h"
#include "kubelet-fake/scheduler/internal/cluster.h"
#include "kubelet-fake/scheduler/internal/disruption_budgets.h"
#include "kubelet-fake/scheduler/internal/node_choice.h"
#include "kubelet-fake/scheduler/internal/pod_writer.h"
#include "kubelet-fake/scheduler/internal/preemption.h"
#include "kubelet-fake/scheduler/internal/scheduler_metrics.h"
#include "kubelet-fake/scheduler/internal/scheduling_queue.h"
#include "kubelet-fake/scheduler/scheduler.h"

namespace terrarium::kubelet_fake {

// Shared with callbacks, which may arrive after the scheduler is destroyed. seen.cc handles informer events,
// cycle.cc schedules, preempt.cc makes room for pods that fit nowhere, bind_volumes.cc binds claims.
class Scheduler::Impl : public std::enable_shared_from_this<Scheduler::Impl> {
 public:
  Impl(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
       controllers::EventRecorder& recorder, controllers::Metrics& metrics, controllers::WhyLog& why);
  ~Impl();
  void Watch(controllers::InformerSet& informers);
  void Start();

 private:
  // Handlers of informer events.
  void PodSeen(const api::ObjectPtr& pod);
  void PodGone(const api::ObjectName& name);
  void NodeSeen(const api::ObjectPtr& node);
  void AssignedPodSeen(const api::ObjectPtr& pod);
  void PendingPodSeen(const api::ObjectPtr& pod);
  void NominationSeen(scheduling::PodRecord& record, const api::Json& pod);
  void NodeGone(const std::string& name);
  void WatchWorkloads(controllers::InformerSet& informers);
  // Tries one pod of each waiting class for which that holds.
  void RetryClasses(const std::function<bool(const scheduling::PodClass&)>& may_help);

  // Takes the pod out of the queue, if it is there.
  void Dequeue(scheduling::PodRecord& pod);
  // Record a change for the next piece of work, which handles all of them together.
  void NoteFreed(const std::string& node, const scheduling::PodClassPtr& gone);
  void NotePlaced(const scheduling::PodClassPtr& come);
  void RetryAfterChanges();
  // Tries the pods that are nominated to the node again if they have reason to hope.
  void RetryNominated(const std::string& node);

  // Posts Work().
  void Wake();
  void Work();
  void Attempt(scheduling::PodRecord& pod);
  // Why a pod has not been placed.
  struct Refusal {
    std::string message;
    // What the pod's status.nominatedNodeName becomes; nullopt: it stays as it is.
    std::optional<std::string> nomination;
    scheduling::Candidate preemption = {};  // without victims: none
    int candidates = 0;
  };
  // Counts the pod on a node. nullopt: it was placed.
  std::optional<Refusal> Assume(scheduling::PodRecord& pod);
  Refusal Refuse(scheduling::PodRecord& pod, const scheduling::Diagnosis& why);
  Refusal RefuseEverywhere(scheduling::PodRecord& pod, const scheduling::Diagnosis& why);
  // Queues a pod that has not been placed, reports why and begins the preemption.
  void Refused(scheduling::PodRecord& pod, const Refusal& refusal);
  void Nominate(scheduling::PodRecord& pod, const std::string& node);

  // What a preemption needs of its pods, which may change while requests are under way.
  struct Eviction {
    api::ObjectPtr preemptor;
    std::string node;
    std::vector<api::ObjectPtr> victims;
  };
  // The victims that are not being deleted yet. Also records why they will be.
  Eviction PrepareEviction(const scheduling::PodRecord& pod, const Refusal& refusal);
  void WithdrawNominations(const scheduling::PodRecord& pod, const scheduling::NodeInfo& node);
  api::Task<void> Evict(Eviction eviction);
  api::Task<bool> EvictAll(Eviction eviction);
  // The victims whose requests succeeded; `succeeded` becomes false when another one failed.
  std::vector<api::ObjectPtr> Accepted(const std::vector<api::ObjectPtr>& victims,
                                       const std::vector<api::Client::Written>& answers, bool& succeeded);
  void VictimRemains(const api::Object& victim);
  void EvictionEnded(const api::Object& preemptor, bool succeeded);

  // Removes the pod from its node's counts.
  void Displace(scheduling::PodRecord& pod);
  void BindWhenReported(scheduling::PodRecord& pod);
  void Bind(scheduling::PodRecord& pod);
  // `outdated`: the scheduler's copy of the pod is, so its condition is left alone.
  void BindFailed(scheduling::PodRecord& pod, const std::string& message, bool outdated);

  // The volumes of a pod that has been placed, until its claims are bound.
  struct VolumeBinding {
    std::uint64_t number = 0;
    std::string node;
    scheduling::VolumePlan plan;
    // Revisions of the claims and volumes that were written.
    std::map<api::ObjectName, std::int64_t> written;
    bool all_written = false;
    api::TimerId timer = 0;
  };
  void WatchVolumes(controllers::InformerSet& informers);
  void ClaimChanged(const api::ObjectName& claim);
  void VolumeChanged(const std::string& volume);
  void BindVolumes(scheduling::PodRecord& pod, scheduling::VolumePlan plan);
  VolumeBinding* FindVolumeBinding(const api::ObjectName& pod, std::uint64_t number);
  api::Task<void> WriteVolumes(api::ObjectName pod, std::uint64_t number);
  std::optional<std::string> WhyVolumesFailed(const VolumeBinding& binding, bool& bound) const;
  // Binds the pod if its claims are bound now.
  void CheckVolumes(const api::ObjectName& pod);
  void CheckVolumesOf(const api::ObjectName& claim);
  void VolumesFailed(const api::ObjectName& pod, const std::string& message);
  void EndVolumeBinding(const api::ObjectName& pod);
  void Report(scheduling::PodRecord& pod, std::string_view reason, const std::string& message,
              const std::optional<std::string>& nomination);
  void WaitForErrorRetry();
  void WaitForFlush();

  // The record that a callback is about, if the pod it was made for still waits for a node.
  scheduling::PodRecord* FindPending(const api::ObjectHeader& pod);

  api::Env env_;
  api::Client& client_;
  controllers::Informer& pod_informer_;
  controllers::WhyLog& why_;
  scheduling::PodWriter writer_;
  scheduling::SchedulerMetrics metrics_;
  scheduling::Cluster cluster_;
  scheduling::NodeChooser chooser_;
  scheduling::DisruptionBudgets budgets_;
  scheduling::PreemptionSearch preemption_;
  std::map<api::ObjectName, scheduling::PodRecord> pods_;
  scheduling::SchedulingQueue queue_;  // of records in pods_

  std::map<std::pair<std::string, std::int64_t>, scheduling::PodClassPtr> freed_;  // by node and class
  std::map<std::int64_t, scheduling::PodClassPtr> placed_;
  // status.nominatedNodeName of pending pods as last seen, where it is set.
  std::map<api::ObjectName, std::string> nominations_seen_;

  bool started_ = false;
  bool posted_ = false;
  api::TimerId error_timer_ = 0;
  api::TimerId flush_timer_ = 0;
  std::map<api::ObjectName, VolumeBinding> volume_bindings_;                // by pod
  std::map<api::ObjectName, std::set<api::ObjectName>> waiting_for_claim_;  // pods by claim
  std::uint64_t last_volume_binding_ = 0;
  api::TaskScope tasks_;
};

}  // namespace terrarium::kubelet_fake
