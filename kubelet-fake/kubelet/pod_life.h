#pragma once

// The life of one pod as a pure state machine: no client, no executor, no clock of its own. Whoever drives it tells it
// what the document says and what time it is, and gets back what to report, which events to record and when to come
// again.
//
//   life.Advance(now, gates);              one step; the next one may be due at once
//   patch = life.TakePatch();              to be written before the next step
//   life.Next()                            when that is
//
// In one step each container makes at most one move, so that every state is reported: a container that ends and starts
// again at one instant is seen in both.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "kubelet-fake/kubelet/internal/pod_state.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "kubelet-fake/kubelet/rule_book.h"

namespace terrarium::kubelet_fake {

struct PodEvent {
  std::string_view type;
  std::string_view reason;
  std::string message;
  std::string container = {};   // whom it is about; empty: the pod as a whole
  std::string field_path = {};  // spec.containers{web}
};

struct LifeGates {
  bool terminal_phase_before_removal = true;  // PodDisruptionConditions or JobPodReplacementPolicy
  bool disruption_conditions = true;          // PodDisruptionConditions
};

class PodLife {
 public:
  // A new pod, or one that an earlier kubelet has left: its containers go on as their status says.
  PodLife(const Json& pod, Time now);

  // Before the first step a pod is given its addresses; on the host's network it has the host's.
  bool NeedsAddresses() const { return !state_.start_time; }
  bool on_host_network() const { return state_.host_network; }
  void SetAddresses(std::string host_ip, std::string pod_ip);

  // What the pod is to do. REQUIRES: called before the first step.
  void Direct(PodDirections directions, Time now);
  // The document has been changed by others.
  void Observe(const Json& pod, Time now);

  void Advance(Time now, const LifeGates& gates);
  // When the next step is due, possibly in the past; nullopt: only when something happens from outside.
  std::optional<Time> Next(Time now) const;
  std::vector<PodEvent> TakeEvents();
  // The changes of status since the last call as a strategic merge patch; null: none.
  Json TakePatch();
  // The same when the status is in doubt, by comparison with the document.
  Json TakePatchAgainst(const Json& pod);
  // Whether the document says what has been reported.
  bool AgreesWith(const Json& pod) const;

  // Everything has been reported of a pod that is being deleted: it can go.
  bool WantsRemoval() const { return state_.over && state_.deleting && state_.deletion_grace > Duration::zero(); }

  // Orders from outside; the next Advance follows them. See PodHost.
  bool Crash(const PodHost::CrashOrder& order, Time now);
  bool Fail(const PodHost::FailOrder& order, Time now);
  bool Evict(const std::string& message, Time now);

  const std::string& uid() const { return state_.uid; }
  const std::string& pod_ip() const { return state_.pod_ip; }
  bool deleting() const { return state_.deleting; }
  bool over() const { return state_.over; }
  // Containers that have been started at least once.
  std::vector<std::string> StartedContainers() const;
  std::string LogOf(std::string_view container) const;
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

  void Report(Time now);
  void Finish(Time now, const LifeGates& gates);
  void SetPhase(PodPhase phase);
  void Record(std::string_view type, std::string_view reason, std::string message);
  void Record(const Container& container, std::string_view type, std::string_view reason, std::string message);

  PodState state_;
  PodDirections directions_;
  std::vector<PodEvent> events_;
};

}  // namespace terrarium::kubelet_fake
