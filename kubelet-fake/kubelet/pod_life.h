#pragma once

// The life of one pod as a pure state machine: no client, no executor, no clock of its own. The caller passes
// in the pod's document and the current time. The state machine returns the status to report, the events to
// record and the time of the next step.
//
//   life.Advance(now, gates);              one step; the next one may be due immediately
//   patch = life.TakePatch();              write it before the next step
//   life.Next(now)                         the time of the next step
//
// In one step each container makes at most one move, so every state is reported: a container that ends and
// restarts at the same instant is reported in both states.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "kubelet-fake/kubelet/internal/log_book.h"
#include "kubelet-fake/kubelet/internal/pod_state.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "kubelet-fake/kubelet/rule_book.h"

namespace terrarium::kubelet_fake {

struct PodEvent {
  std::string_view type;
  std::string_view reason;
  std::string message;
  std::string container = {};   // the container it is about; empty: the whole pod
  std::string field_path = {};  // spec.containers{web}
};

struct ContainerEnd {
  std::string container;
  Time finished;
};

// A run that had already started, and possibly ended, when the kubelet first saw the pod.
struct PastRun {
  ContainerRun run;
  std::optional<Time> finished;
};

struct LifeGates {
  bool terminal_phase_before_removal = true;  // PodDisruptionConditions or JobPodReplacementPolicy
  bool disruption_conditions = true;          // PodDisruptionConditions
};

class PodLife {
 public:
  // A new pod, or a pod of an earlier kubelet: its containers continue from their status.
  PodLife(const Json& pod, Time now);

  // The caller sets the addresses before the first step. A pod on the host's network has the host's address.
  bool NeedsAddresses() const { return !state_.start_time; }
  bool on_host_network() const { return state_.host_network; }
  void SetAddresses(std::string host_ip, std::string pod_ip);

  // Sets what the pod does from now on. REQUIRES: called at least once before the first step.
  void Direct(PodDirections directions, Time now);
  // Takes in a document that other clients have changed.
  void Observe(const Json& pod, Time now);

  void Advance(Time now, const LifeGates& gates);
  // When the next step is due, possibly in the past. nullopt: only a call from outside makes one due.
  std::optional<Time> Next(Time now) const;
  std::vector<PodEvent> TakeEvents();
  // Containers that have ended since the last call.
  std::vector<ContainerEnd> TakeEnds();
  // The status changes since the last call as a strategic merge patch. Null: there are none.
  Json TakePatch();
  // The same by comparison with the document, for when the stored status may differ from the reported one.
  Json TakePatchAgainst(const Json& pod);
  // Whether the document's status agrees with the last report.
  bool AgreesWith(const Json& pod) const;

  // The pod is being deleted and its final status has been reported: the caller may remove it.
  bool WantsRemoval() const {
    return state_.over && state_.deleting && state_.deletion_grace > Duration::zero();
  }

  // Orders from outside; the next Advance() carries them out. See PodHost.
  bool Crash(const PodHost::CrashOrder& order, Time now);
  bool Fail(const PodHost::FailOrder& order, Time now);
  bool Evict(const std::string& message, Time now);

  const std::string& uid() const { return state_.uid; }
  const std::string& pod_ip() const { return state_.pod_ip; }
  bool deleting() const { return state_.deleting; }
  bool over() const { return state_.over; }
  // The runs that the status reports, each container's in chronological order.
  std::vector<PastRun> PastRuns() const;
  // The current run of a container. REQUIRES: it has started.
  ContainerRun RunOf(std::string_view container) const;
  api::HoldPoints HeldAt() const;

 private:
  void ObserveEnd(const Json& pod, Time now);
  void CheckDeadline(Time now);
  void Stop(Time now, Duration grace);
  void RecordKilling();

  // containers_move.cc: one step of the containers.
  void MoveContainers(Time now);
  void EndDueContainers(Time now);
  void StartDueContainers(Time now);
  bool MayStart(const Container& container) const;
  void StartFirst(Container& container, Time now);
  void StartAgain(Container& container, Time now);
  void Run(Container& container, Time now, Duration pulled_for);
  void CheckLiveness(Container& container, Time now);
  void Probe(Time now);
  std::optional<Time> NextOf(const Container& container, Time now) const;

  ContainerRun RunFrom(const Container& container, Time started) const;
  void Report(Time now);
  void Finish(Time now, const LifeGates& gates);
  void SetPhase(PodPhase phase);
  void Record(std::string_view type, std::string_view reason, std::string message);
  void Record(const Container& container, std::string_view type, std::string_view reason,
              std::string message);

  PodState state_;
  PodDirections directions_;
  std::vector<PodEvent> events_;
  std::vector<ContainerEnd> ends_;
};

}  // namespace terrarium::kubelet_fake
