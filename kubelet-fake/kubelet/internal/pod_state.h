#pragma once

// What the kubelet remembers of one pod: facts from its spec, the state of each container, and what was last
// reported. It holds no document, to stay small with many pods.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/core_v1/pod.h"
#include "api/json.h"
#include "api/object_name.h"

namespace terrarium::kubelet_fake {

using api::Duration;
using api::Json;
using api::Time;

using PodPhase = api::Phase;  // never kUnknown

enum class RestartPolicy { kAlways, kOnFailure, kNever };

// How a container ended. An end with the reason ContainerStatusUnknown has no times.
struct Exit {
  int code = 0;
  std::string reason;
  std::string message = {};
  std::optional<Time> started = {};
  std::optional<Time> finished = {};
  std::string container_id = {};
};

// A request to stop: SIGTERM at `since`, SIGKILL at `kill_by`.
struct StopOrder {
  Time since;
  Time kill_by;
};

struct Container {
  enum class Kind { kRegular, kInit, kSidecar };
  enum class At { kWaiting, kRunning, kTerminated };
  // containers[].restartPolicyRules: exit codes after which the container runs again.
  struct RestartRule {
    bool listed;  // operator In; false: NotIn
    std::vector<int> codes;
  };

  // From the spec.
  std::string name;
  std::string image;
  Kind kind = Kind::kRegular;
  bool always_pulls = false;
  std::optional<Duration> startup_probe;        // initialDelaySeconds; nullopt: no startup probe
  std::optional<Duration> readiness_probe;      // initialDelaySeconds; nullopt: no readiness probe
  std::optional<Duration> liveness_grace;       // terminationGracePeriodSeconds of its liveness probe
  Duration pre_stop{0};                         // duration of a preStop sleep
  std::optional<RestartPolicy> restart_policy;  // the container's own; overrides the pod's
  std::vector<RestartRule> restart_rules;
  // Parts of the container's status that never change: volumeMounts; resources and allocatedResources,
  // reported once the container has been created. Null when there are none.
  std::shared_ptr<const Json> mounts;
  std::shared_ptr<const Json> resources;

  // Current state.
  At at = At::kWaiting;
  bool started = false;
  bool ready = false;
  int restarts = 0;
  std::optional<Time> eligible;  // since when only its start delay postpones its first start
  Time started_at{};
  std::unique_ptr<Exit> exit;  // the latest end; null: it has never ended
  std::unique_ptr<Exit> exit_before;
  bool crash_loop = false;        // waits for its back-off to end
  Duration back_off{0};           // zero: it has never been restarted
  Time back_off_set{};            // when back_off was set
  std::optional<StopOrder> stop;  // for this container alone, after a failed liveness probe
  std::unique_ptr<Exit> crash;    // an ordered crash, carried out in the next step
  // The end of a container while the whole pod is being stopped. It is reported when all containers have
  // ended.
  std::unique_ptr<Exit> unreported;
  bool moved = false;  // in this step

  bool Runs() const { return at == At::kRunning && !unreported; }
  bool EverStarted() const { return at != At::kWaiting || exit != nullptr; }
};

enum class ConditionType {
  kReadyToStartContainers,
  kInitialized,
  kReady,
  kContainersReady,
  kScheduled,
  kDisruption
};
inline constexpr std::size_t kConditionTypes = 6;
std::string_view Name(ConditionType type);

struct Condition {
  bool present = false;
  bool holds = false;
  Time since{};
  std::string reason;
  std::string message;
  // What the apiserver has, as far as the kubelet knows.
  bool reported = false;  // nothing has changed since the last report
  bool reported_reason = false;
  bool reported_message = false;
};

// Why a pod ends for a reason other than its containers' exits or its deletion.
struct Ending {
  PodPhase phase = PodPhase::kFailed;
  std::string reason;
  std::string message;
  bool shows_immediately = false;  // conditions show it before the containers have stopped
  bool disruption = false;         // adds a DisruptionTarget condition
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
  // Readiness gates and the status of their conditions ("" when there is none). Other clients write these
  // conditions.
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
  bool initialized = false;  // regular containers may start; never reset
  std::array<Condition, kConditionTypes> conditions;

  // The pod's end.
  std::optional<StopOrder> stop;
  std::optional<Ending> ending;
  std::optional<Time> redirected;  // when its script or hold points last changed
  std::optional<Time> released;    // when containers that ignored a request to stop were released
  bool over = false;               // no container runs or will run

  // What has changed since the last report, except conditions.
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
  // Records that the container's status has changed.
  void Touch(const Container& container);
};

// Whether a container that ended with `code` is to run again.
bool Restarts(const PodState& pod, const Container& container, int code);
// All regular containers have ended and none will run again.
bool RegularContainersDone(const PodState& pod);
// An init container has failed for good.
bool InitializationFailed(const PodState& pod);
// The first init container that is not done yet; nullptr when all are done.
const Container* InitContainerInTurn(const PodState& pod);

}  // namespace terrarium::kubelet_fake
