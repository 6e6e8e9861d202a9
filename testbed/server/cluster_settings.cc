#include "testbed/server/cluster_settings.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "api/base/duration.h"
#include "api/base/errors.h"
#include "api/base/feature_gates.h"
#include "api/pod_script/pod_script.h"
#include "apiserver/admission/admission_plugins.h"
#include "controllers/controller_table.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using api::Result;

// Every JSON reader represents integers up to this one exactly, also with doubles.
constexpr std::int64_t kSeedMax = (std::int64_t{1} << 53) - 1;

// The name of a setting in messages: featureGates or --feature-gates.
std::string Named(std::string_view member, SettingNames names) {
  if (names == SettingNames::kMembers) return std::string(member);
  std::string flag = "--";
  for (char c : member) {
    if (std::isupper(static_cast<unsigned char>(c))) flag += '-';
    flag += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return flag;
}

std::optional<storage::Durability> DurabilityOf(std::string_view name) {
  if (name == "off") return storage::Durability::kOff;
  if (name == "normal") return storage::Durability::kNormal;
  if (name == "full") return storage::Durability::kFull;
  return std::nullopt;
}

Result<void> SetText(const Json& value, std::string_view member, std::string* out) {
  if (!value.is_string()) return api::BadRequest(std::string(member) + " must be a string");
  *out = value.get<std::string>();
  return {};
}

Result<void> SetBool(const Json& value, std::string_view member, bool* out) {
  if (!value.is_boolean()) return api::BadRequest(std::string(member) + " must be true or false");
  *out = value.get<bool>();
  return {};
}

Result<std::int64_t> NumberOf(const Json& value, std::string_view member, std::int64_t max) {
  bool fits = value.is_number_integer() && value >= 0 && value <= max;
  if (!fits)
    return api::BadRequest(std::string(member) + " must be a whole number from 0 to " + std::to_string(max));
  return value.get<std::int64_t>();
}

// Appends {"A": true} to the gates. The last value of a gate wins.
Result<void> AddGates(const Json& value, std::string_view member, std::string* gates) {
  if (!value.is_object())
    return api::BadRequest(std::string(member) + R"( must be an object like {"GateName": true})");
  for (const auto& [name, on] : value.items()) {
    bool is_on = false;
    if (auto fine = SetBool(on, std::string(member) + "." + name, &is_on); !fine) return fine;
    *gates += (gates->empty() ? "" : ",") + name + (is_on ? "=true" : "=false");
  }
  return {};
}

Result<void> Set(const Json& value, const std::string& member, ClusterSettings* out) {
  if (member == "clock") return SetText(value, member, &out->clock);
  if (member == "controllers") return SetText(value, member, &out->controllers);
  if (member == "data") return SetText(value, member, &out->data);
  if (member == "disableAdmissionPlugins") return SetText(value, member, &out->disable_admission_plugins);
  if (member == "durability") return SetText(value, member, &out->durability);
  if (member == "enableAdmissionPlugins") return SetText(value, member, &out->enable_admission_plugins);
  if (member == "eventTtl") return SetText(value, member, &out->event_ttl);
  if (member == "kubelet") return SetBool(value, member, &out->kubelet);
  if (member == "scheduler") return SetBool(value, member, &out->scheduler);
  if (member == "featureGates") return AddGates(value, member, &out->feature_gates);
  if (member == "controllerManagerFeatureGates")
    return AddGates(value, member, &out->controller_manager_feature_gates);
  if (member == "kubeletFeatureGates") return AddGates(value, member, &out->kubelet_feature_gates);
  if (member == "podDefaults") {
    if (!value.is_object())
      return api::BadRequest(member + R"( must be an object like {"stop-after": "5s"})");
    out->pod_defaults.update(value);
    return {};
  }
  if (member == "nodes" || member == "seed") {
    auto number = NumberOf(value, member, member == "nodes" ? kNodesMax : kSeedMax);
    if (!number) return number.status();
    if (member == "nodes")
      out->nodes = static_cast<int>(*number);
    else
      out->seed = static_cast<std::uint64_t>(*number);
    return {};
  }
  return api::BadRequest("unknown field " + api::Quote(member));
}

}  // namespace

Result<ClusterOptions> ToOptions(const ClusterSettings& settings, SettingNames names) {
  ClusterOptions out;
  auto wrong = [names](std::string_view member, const std::string& message) {
    return api::BadRequest(Named(member, names) + ": " + message);
  };
  auto gates = api::FeatureGates().With(settings.feature_gates);
  if (!gates) return wrong("featureGates", gates.status().message);
  auto mode = ClockMode::Parse(settings.clock);
  if (!mode) return wrong("clock", mode.status().message);
  out.mode = *mode;
  auto durability = DurabilityOf(settings.durability);
  if (!durability) return wrong("durability", settings.durability + " must be one of full, normal and off");
  out.control_plane.durability = *durability;
  out.control_plane.data_file = settings.data;
  out.control_plane.gates = *gates;
  if (settings.seed) out.control_plane.seed = *settings.seed;
  auto event_ttl = api::ParseDuration(settings.event_ttl);
  if (!event_ttl || event_ttl.value <= api::Duration::zero())
    return wrong("eventTtl", settings.event_ttl + " must be a duration above zero, like 1h or 90m");
  out.control_plane.event_ttl = event_ttl.value;
  for (const auto& [member, list] :
       {std::pair("enableAdmissionPlugins", &settings.enable_admission_plugins),
        std::pair("disableAdmissionPlugins", &settings.disable_admission_plugins)})
    if (auto known = apiserver::ParseAdmissionPlugins(*list); !known)
      return wrong(member, known.status().message);
  out.control_plane.enable_admission_plugins = settings.enable_admission_plugins;
  out.control_plane.disable_admission_plugins = settings.disable_admission_plugins;

  ComponentOptions& components = out.components;
  if (auto known = controllers::SelectControllers(settings.controllers); !known)
    return wrong("controllers", known.status().message);
  components.controllers = settings.controllers;
  components.scheduler = settings.scheduler;
  components.kubelet = settings.kubelet;
  components.nodes.nodes = settings.nodes;
  components.root_ca = settings.root_ca;
  api::FieldErrors errors = api::ParseScriptKeys(
      settings.pod_defaults, api::Path(Named("podDefaults", names)), &components.pods.defaults);
  if (!errors.empty()) return api::BadRequest(errors[0].field + ": " + errors[0].message);
  // A component's own gates override the common ones.
  auto manager = gates->With(settings.controller_manager_feature_gates);
  if (!manager) return wrong("controllerManagerFeatureGates", manager.status().message);
  components.controller_manager_gates = *manager;
  auto kubelet = gates->With(settings.kubelet_feature_gates);
  if (!kubelet) return wrong("kubeletFeatureGates", kubelet.status().message);
  components.kubelet_gates = *kubelet;
  components.scheduler_gates = *gates;
  return out;
}

Result<ClusterSettings> SettingsOf(const Json& body, const ClusterSettings& of_server) {
  ClusterSettings out = of_server;
  out.data.clear();
  for (const auto& [member, value] : body.items()) {
    if (member == "name") continue;
    if (auto set = Set(value, member, &out); !set) return set.status();
  }
  return out;
}

Result<Json> ParsePodDefaults(std::string_view text) {
  Json keys = Json::object();
  std::string key;
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    std::size_t equals = item.find('=');
    // The next item of a list: cpu=100m,5m:800m.
    if (equals == std::string_view::npos && item.find(':') != std::string_view::npos && !key.empty()) {
      keys[key].get_ref<std::string&>().append(",").append(item);
      continue;
    }
    if (equals == std::string_view::npos) return api::BadRequest(std::string(item) + " is not KEY=VALUE");
    key = item.substr(0, equals);
    keys[key] = std::string(item.substr(equals + 1));
  }
  return keys;
}

}  // namespace terrarium::testbed
