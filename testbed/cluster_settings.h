#pragma once

// What one cluster is made of, as people say it: in the flags of the server, or in the body of a request for one more.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/json.h"
#include "testbed/components.h"
#include "testbed/plane.h"
#include "testbed/runtime.h"

namespace terrarium::testbed {

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
  api::Json pod_defaults = api::Json::object();  // the keys of a pod's script
  std::string data;                              // empty: in memory
  std::string durability = "full";
};

struct ClusterOptions {
  std::string name;  // empty: the one at the server's root
  ClockMode mode;
  PlaneOptions plane;
  ComponentOptions components;
  std::shared_ptr<api::HttpCaller> http_caller = {};  // the components', which ends with the cluster
};

enum class SettingNames {
  kFlags,    // --feature-gates
  kMembers,  // featureGates
};

// Checks the settings and says what is wrong by its name. The plane's seed is left alone when none is given.
api::Result<ClusterOptions> ToOptions(const ClusterSettings& settings, SettingNames names);

// The settings of a request's body, {"clock": "virtual", "featureGates": {"A": true}, ...}, over those of the server:
// gates and pod defaults are added to them, data is never taken over. `name` is not looked at.
api::Result<ClusterSettings> SettingsOf(const api::Json& body, const ClusterSettings& of_server);

// "start-delay=2s,stop-after=5s" as keys and values.
api::Result<api::Json> ParsePodDefaults(std::string_view text);

}  // namespace terrarium::testbed
