#pragma once

// How a pod behaves on the fake kubelet. A script comes from annotations of the pod (or of the template it is
// made from), from rules of the control API, and from defaults of the command line; docs/pod-scripts.md has
// the keys.
//
//   terrarium.dev/run-for: 90s            every regular container runs for 90 seconds
//   terrarium.dev/exit-code.setup: "1"    the container `setup` ends with exit code 1

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/field_error.h"
#include "api/json.h"
#include "api/pod_script/usage_course.h"

namespace terrarium::api {

inline constexpr std::string_view kScriptPrefix = "terrarium.dev/";

// The value of `run-for: forever`.
inline constexpr Duration kForever = Duration::max();

// From `after` (since the container's start) on, the probe passes or fails.
struct ProbeFlip {
  Duration after;
  bool passes;
  friend bool operator==(const ProbeFlip&, const ProbeFlip&) = default;
};

// The settings of one container, or of all containers to which a key applies. For an absent setting, the
// source with the next lower precedence decides.
struct ContainerScript {
  std::optional<Duration> start_delay;
  std::optional<Duration> ready_delay;
  std::optional<Duration> run_for;
  std::optional<int> exit_code;
  std::optional<std::string> exit_reason;
  std::optional<Duration> stop_after;
  std::optional<int> stop_exit_code;
  std::optional<bool> ignore_sigterm;
  std::optional<bool> hang;
  std::optional<bool> never_ready;
  std::optional<std::vector<ProbeFlip>> readiness;  // in order of time
  std::optional<Duration> liveness;                 // when the liveness probe begins to fail
  std::optional<std::string> log;
  std::optional<Duration> log_every;  // above 0
  std::optional<UsageCourse> cpu;
  std::optional<UsageCourse> memory;

  friend bool operator==(const ContainerScript&, const ContainerScript&) = default;
};

struct HoldPoints {
  bool ready = false;
  bool terminating = false;
  friend bool operator==(const HoldPoints&, const HoldPoints&) = default;
};

struct PodScript {
  ContainerScript all;                                             // keys without a container's name
  std::map<std::string, ContainerScript, std::less<>> containers;  // keys with one, which win
  std::optional<HoldPoints> hold;

  // The setting for this container by name; nullptr when the script has none.
  template <typename T>
  const T* FindOwn(std::string_view container, std::optional<T> ContainerScript::*field) const {
    const auto own = containers.find(container);
    return own != containers.end() && own->second.*field ? &*(own->second.*field) : nullptr;
  }
  // The same, or else the setting for all containers.
  template <typename T>
  const T* Find(std::string_view container, std::optional<T> ContainerScript::*field) const {
    if (const T* own = FindOwn(container, field)) return own;
    return all.*field ? &*(all.*field) : nullptr;
  }

  friend bool operator==(const PodScript&, const PodScript&) = default;
};

// Merges `over` into `base`. A setting in `over` takes precedence, even over a more specific one in `base`.
void Overlay(PodScript& base, const PodScript& over);

// True when any key of `annotations` belongs to a script.
bool HasPodScript(const Json& annotations);
// Reads the annotations with our prefix into *script and ignores the others. `pod_spec` declares the
// containers. Unknown keys, unknown containers and invalid values are reported at path[KEY].
FieldErrors ParsePodScript(const Json& annotations, const Json& pod_spec, const Path& path,
                           PodScript* script);
// The same for a map of keys without the prefix, whose values may be JSON numbers and booleans as well.
// Containers are not checked, since a rule applies to many pods.
FieldErrors ParseScriptKeys(const Json& keys, const Path& path, PodScript* script);

// "ready", "terminating", both with a comma between, or "none"; nullopt for anything else.
std::optional<HoldPoints> ParseHoldPoints(std::string_view text);

}  // namespace terrarium::api
