#pragma once

// The settings of one cluster, from the server's flags or from the body of a request that creates a cluster.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/json.h"
#include "testbed/control_plane/components.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/runtime/runtime.h"

namespace terrarium::testbed {

// Twice the number of nodes that Kubernetes supports.
inline constexpr int kNodesMax = 10'000;
// Of all clusters of a server together.
inline constexpr int kServerNodesMax = 100'000;

struct ClusterSettings {
  std::string clock = "real";
  std::optional<std::uint64_t> seed;  // absent: from the machine's entropy
  int nodes = 3;
  std::string feature_gates;  // of all components: "A=true,B=false"
  std::string controller_manager_feature_gates;
  std::string kubelet_feature_gates;
  std::string controllers = "*";
  bool kubelet = true;
  bool scheduler = true;
  api::Json pod_defaults = api::Json::object();  // keys of a pod script
  std::string data;                              // empty: in memory
  std::string durability = "full";
  std::string event_ttl = "1h0m0s";  // as Go prints durations
  std::string enable_admission_plugins;
  std::string disable_admission_plugins;
  std::string root_ca;  // PEM; of the server, not to be set by a request
};

struct ClusterOptions {
  std::string name;  // empty: the root cluster
  ClockMode mode;
  ControlPlaneOptions control_plane;
  ComponentOptions components;
  std::shared_ptr<api::HttpCaller> http_caller = {};  // of the components; destroyed with the cluster
};

enum class SettingNames {
  kFlags,    // --feature-gates
  kMembers,  // featureGates
};

// Checks the settings. An error message names the setting. Without a seed in `settings`, the control plane's
// default seed stays.
api::Result<ClusterOptions> ToOptions(const ClusterSettings& settings, SettingNames names);

// The settings of a request's body, {"clock": "virtual", "featureGates": {"A": true}, ...}, on top of the
// server's settings: gates and pod defaults are merged, and the server's `data` is not inherited. Ignores
// `name`.
api::Result<ClusterSettings> SettingsOf(const api::Json& body, const ClusterSettings& of_server);

// Parses "start-delay=2s,stop-after=5s" into an object.
api::Result<api::Json> ParsePodDefaults(std::string_view text);

}  // namespace terrarium::testbed
