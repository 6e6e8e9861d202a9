#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/base/env.h"
#include "api/base/executor.h"
#include "api/object_name.h"
#include "kubelet-fake/scheduler/internal/cluster.h"
#include "kubelet-fake/scheduler/internal/node_choice.h"
#include "kubelet-fake/scheduler/internal/pod_writer.h"
#include "kubelet-fake/scheduler/internal/scheduler_metrics.h"
#include "kubelet-fake/scheduler/internal/scheduling_queue.h"
#include "kubelet-fake/scheduler/scheduler.h"

namespace terrarium::kubelet_fake {

// Shared with callbacks, which may arrive after the scheduler is destroyed. seen.cc handles informer events,
// cycle.cc schedules.
class Scheduler::Impl : public std::enable_shared_from_this<Scheduler::Impl> {
 public:
  Impl(const api::Env& env, api::Client& client, controllers::EventRecorder& recorder,
       controllers::Metrics& metrics);
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

  // Takes the pod out of the queue, if it is there.
  void Dequeue(scheduling::PodRecord& pod);
  // Record a change for the next piece of work, which handles all of them together.
  void NoteFreed(const std::string& node, const scheduling::PodClassPtr& gone);
  void NotePlaced(const scheduling::PodClassPtr& come);
  void RetryAfterChanges();

  // Posts Work().
  void Wake();
  void Work();
  void Attempt(scheduling::PodRecord& pod);
  // False when the pod's class cannot be placed; its failure has the reason.
  bool Assume(scheduling::PodRecord& pod);
  // Removes the pod from its node's counts.
  void Displace(scheduling::PodRecord& pod);
  void Bind(scheduling::PodRecord& pod);
  void BindFailed(scheduling::PodRecord& pod, const api::Status& status);
  void Report(scheduling::PodRecord& pod, std::string_view reason, const std::string& message);
  void WaitForErrorRetry();
  void WaitForFlush();

  // The record that a callback is about, if the pod it was made for still waits for a node.
  scheduling::PodRecord* FindPending(const api::ObjectHeader& pod);

  api::Env env_;
  scheduling::PodWriter writer_;
  scheduling::SchedulerMetrics metrics_;
  scheduling::Cluster cluster_;
  scheduling::NodeChooser chooser_;
  std::map<api::ObjectName, scheduling::PodRecord> pods_;
  scheduling::SchedulingQueue queue_;  // of records in pods_

  std::map<std::pair<std::string, std::int64_t>, scheduling::PodClassPtr> freed_;  // by node and class
  std::map<std::int64_t, scheduling::PodClassPtr> placed_;

  bool started_ = false;
  bool posted_ = false;
  api::TimerId error_timer_ = 0;
  api::TimerId flush_timer_ = 0;
};

}  // namespace terrarium::kubelet_fake
