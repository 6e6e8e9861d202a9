#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/object.h"
#include "kubelet-fake/scheduler/internal/node_info.h"
#include "kubelet-fake/scheduler/internal/pod_class.h"

namespace terrarium::kubelet_fake::scheduling {

enum class QueuePlace {
  kNone,          // placed, being bound, or given up
  kActive,        // to be tried
  kBackoff,       // failed recently: to be tried when nothing else is
  kErrorBackoff,  // to be tried after a delay: the apiserver refused the binding
  kWaiting,       // for a change in the cluster
  kPreempting,    // for the deletions of its victims to be sent
  kGated,         // for its scheduling gates to be removed
};

// What the scheduler knows of one pod.
struct PodRecord {
  const api::ObjectName* name = nullptr;  // its key in the scheduler's table
  api::ObjectPtr object;                  // the newest state seen while it has no node
  PodClassPtr pod_class;
  NodeInfo* node = nullptr;  // where it counts: seen there, or being bound to it
  std::size_t slot = 0;      // among the node's residents
  bool terminating = false;  // while it has a node
  bool preempted = false;    // by this scheduler, to make room
  // status.startTime, once it was needed.
  std::optional<api::Time> started;
  // The node on which it will probably fit, since its preemption made room there.
  NodeInfo* nominated = nullptr;

  // The queue's own.
  QueuePlace place = QueuePlace::kNone;
  bool waits_as_nominated = false;
  std::uint64_t order = 0;  // of arrival, or of the last failure
  int unschedulable_count = 0;
  int error_count = 0;  // in a row
  api::Time failed_at{};
  api::Time backoff_until{};

  int attempts = 0;
  std::string reported;  // the last message of the PodScheduled condition
  int reports_under_way = 0;
  bool bind_when_reported = false;

  std::int64_t priority() const { return pod_class->wants.priority; }
};

}  // namespace terrarium::kubelet_fake::scheduling
