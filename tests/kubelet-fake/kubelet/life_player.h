#pragma once

// Plays a pod's life against a document on a virtual clock that jumps from one timer to the next. Records one
// line for each reported status:
//
//   5s Running SICR web=ready      5 seconds after the beginning: the phase, the conditions that hold, the
//   containers
//
// Conditions: Sandbox (PodReadyToStartContainers), Initialized, ContainersReady, Ready; a dash for a
// condition that is not True. Containers: init (waits for others), creating, loop(10s) (CrashLoopBackOff),
// up, ready, exit0; #2: restarted twice.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "kubelet-fake/kubelet/pod_life.h"

namespace terrarium::kubelet_fake::testing {

using namespace std::chrono_literals;
using api::Duration;
using api::Json;
using api::Time;

inline constexpr Time kBeginning = Time(std::chrono::seconds(1'767'225'600));  // 2026-01-01T00:00:00Z

// A bound pod with one container `web`; `spec` is merged into its spec, `script` are annotations without the
// prefix.
Json BoundPod(const Json& script = Json::object(), const Json& spec = Json::object());
// {"name": NAME, "image": NAME:1} merged with `more`.
Json MakeContainer(const std::string& name, const Json& more = Json::object());

class LifePlayer {
 public:
  explicit LifePlayer(Json pod, PodDirections directions = {});

  // Advances the clock to that long after the beginning.
  void Until(Duration since_beginning);
  // Interventions at the present instant. Their consequences follow with the next Until().
  void Delete(std::int64_t grace_seconds);
  void SetFinalizers() { pod_["metadata"]["finalizers"] = Json::array({"example.com/wait"}); }
  void SetScript(const Json& script);
  void SetStatusOfGate(const std::string& type, const std::string& status);
  void Direct(std::function<void(PodDirections&)> change);
  void SetGates(LifeGates gates) { gates_ = gates; }
  // The kubelet ends and another one takes over the pod.
  void Restart();

  PodLife& life() { return *life_; }
  Time now() const { return now_; }
  const Json& pod() const { return pod_; }
  const std::vector<std::string>& lines() const { return lines_; }
  // "Normal Started Container started", with the container's name in front: "web: ...".
  const std::vector<std::string>& events() const { return events_; }

 private:
  void Settle();
  std::string Line() const;
  PodDirections Directions() const;

  Json pod_;
  PodDirections directions_;
  Time now_ = kBeginning;
  LifeGates gates_;
  std::optional<PodLife> life_;
  bool removed_ = false;
  std::vector<std::string> lines_;
  std::vector<std::string> events_;
};

}  // namespace terrarium::kubelet_fake::testing
