#pragma once

// What the kubelet remembers of one pod: facts from its spec, where each container stands, and what was last reported.
// Kept small, since there are many pods: no document is held.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object_name.h"

namespace terrarium::kubelet_fake {

using api::Duration;
using api::Json;
using api::Time;

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed };
std::string_view Name(PodPhase phase);
inline bool IsTerminal(PodPhase phase) { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }

enum class RestartPolicy { kAlways, kOnFailure, kNever };

// How a container ended; without times when nobody saw it.
struct Exit {
  int code = 0;
  std::string reason;
  std::string message = {};
  std::optional<Time> started = {};
  std::optional<Time> finished = {};
  std::string container_id = {};
};

// A request to stop, with SIGTERM at `since` and SIGKILL at `kill_by`.
struct StopOrder {
  Time since;
  Time kill_by;
};

struct Container {
  enum class Kind { kRegular, kInit, kSidecar };
  enum class At { kWaiting, kRunning, kTerminated };
  // containers[].restartPolicyRules: exit codes after which the container runs again.
  struct RestartRule {
    bool listed;  // In, or NotIn
    std::vector<int> codes;
  };

  // From the spec.
  std::string name;
  std::string image;
  Kind kind = Kind::kRegular;
  bool always_pulls = false;
  std::optional<Duration> startup_probe;    // initialDelaySeconds of the probe, if there is one
  std::optional<Duration> readiness_probe;  // the same
  std::optional<Duration> liveness_grace;   // terminationGracePeriodSeconds of its liveness probe
  Duration pre_stop{0};                     // of a preStop sleep
  std::optional<RestartPolicy> restart_policy;  // its own, which wins over the pod's
  std::vector<RestartRule> restart_rules;
  // volumeMounts, and once it has been created resources and allocatedResources: parts of its status that never change.
  // Null when there are none.
  std::shared_ptr<const Json> mounts;
  std::shared_ptr<const Json> resources;

  // Where it stands.
  At at = At::kWaiting;
  bool started = false;
  bool ready = false;
  int restarts = 0;
  std::optional<Time> eligible;  // since when nothing but its start delay keeps it from its first start
  Time started_at{};
  std::unique_ptr<Exit> exit;    // the latest one; null: it has never ended
  std::unique_ptr<Exit> exit_before;
  bool crash_loop = false;       // waits for its back-off to end
  Duration back_off{0};          // zero: it has never been restarted
  Time back_off_set{};           // when that became the next back-off
  std::optional<StopOrder> stop;  // of this container alone, after a failed liveness probe
  std::unique_ptr<Exit> crash;    // ordered: it ends now
  // While a whole pod is being stopped nothing is reported of a container that has ended before the others.
  std::unique_ptr<Exit> unreported;
  bool moved = false;  // in this step

  bool Runs() const { return at == At::kRunning && !unreported; }
  bool EverStarted() const { return at != At::kWaiting || exit != nullptr; }
};

enum class ConditionType { kReadyToStartContainers, kInitialized, kReady, kContainersReady, kScheduled, kDisruption };
inline constexpr std::size_t kConditionTypes = 6;
std::string_view Name(ConditionType type);

struct Condition {
  bool present = false;
  bool holds = false;
  Time since{};
  std::string reason;
  std::string message;
  // What the server has, as far as we know.
  bool reported = false;  // nothing has changed since the last report
  bool reported_reason = false;
  bool reported_message = false;
};

// Why a pod ends other than by its containers or by deletion.
struct Ending {
  PodPhase phase = PodPhase::kFailed;
  std::string reason;
  std::string message;
  bool shows_at_once = false;  // conditions tell of it before the containers have stopped
  bool disruption = false;     // a DisruptionTarget condition goes with it
};

struct PodState {
  // From metadata and spec.
  api::ObjectName name;
  std::string uid;
  std::int64_t generation = 0;
  bool deleting = false;
  Duration deletion_grace{0};
  RestartPolicy restart_policy = RestartPolicy::kAlways;
  Duration termination_grace{0};
  std::optional<Duration> active_deadline;
  bool host_network = false;
  // Readiness gates and the status of their conditions ("" when there is none), which others write.
  std::vector<std::pair<std::string, std::string>> readiness_gates;
  std::vector<Container> containers;  // init containers first, both in the spec's order

  // Status.
  PodPhase phase = PodPhase::kPending;
  std::string reason;
  std::string message;
  std::optional<Time> start_time;
  std::string host_ip;
  std::string pod_ip;
  bool sandbox = false;      // the pod has its sandbox, and with it its address
  bool initialized = false;  // regular containers may start: once true, true for ever
  std::array<Condition, kConditionTypes> conditions;

  // Its end.
  std::optional<StopOrder> stop;
  std::optional<Ending> ending;
  std::optional<Time> redirected;  // when somebody said something else about the pod than before
  std::optional<Time> released;  // when somebody let containers go that had been asked to stop and did not
  bool over = false;             // nothing runs and nothing will

  // What has changed since the last report, besides conditions.
  struct Changes {
    bool phase = true;
    bool generation = true;
    bool beginning = true;  // startTime, host addresses
    bool address = false;   // podIP, known once there is a sandbox
    bool containers = true;
    bool init_containers = true;
  } changes;

  Condition& At(ConditionType type) { return conditions[static_cast<std::size_t>(type)]; }
  const Condition& At(ConditionType type) const { return conditions[static_cast<std::size_t>(type)]; }
  bool AnyRuns() const;
  // Takes note that the container's status has changed.
  void Touch(const Container& container);
};

// Whether a container that ended with `code` is to run again.
bool Restarts(const PodState& pod, const Container& container, int code);
// Regular containers have all ended and none will run again.
bool RegularContainersDone(const PodState& pod);
// An init container has failed for good.
bool InitializationFailed(const PodState& pod);
// The first init container that is not done yet; nullptr when all are.
const Container* InitContainerInTurn(const PodState& pod);

}  // namespace terrarium::kubelet_fake
