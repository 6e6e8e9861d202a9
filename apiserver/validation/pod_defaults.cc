// Defaults that look at other fields (mirrors pkg/apis/core/v1/defaults.go and conversion.go, 1.36).

#include <algorithm>
#include <array>

#include "api/core_v1/resource_list.h"
#include "apiserver/validation/internal/image_name.h"
#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver {

using namespace pod_rules;  // NOLINT: the helpers of this folder

namespace {

constexpr std::array<const char*, 3> kContainerLists = {"containers", "initContainers",
                                                        "ephemeralContainers"};

// The list below `key` for writing, or an empty one that is thrown away.
template <typename Visit>
void ForEach(Json& object, const char* key, Visit visit) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return;
  for (Json& item : *it) visit(item);
}

Json* Member(Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() || !it->is_object() ? nullptr : &*it;
}

// Amounts finer than a thousandth cannot be kept.
void RoundUp(Json& resources) {
  for (const char* list : {"limits", "requests"}) {
    Json* amounts = Member(resources, list);
    if (amounts == nullptr) continue;
    for (auto& [name, text] : amounts->items()) {
      api::Quantity amount = QuantityOf(text);
      api::Quantity rounded = amount;
      rounded.RoundUp(-3);
      if (rounded != amount) text = rounded.ToString();
    }
  }
}

std::string_view PullPolicyFor(std::string_view image) {
  return IsLatestImage(image) ? "Always" : "IfNotPresent";
}

void DefaultContainer(Json& container) {
  if (StringAt(container, "imagePullPolicy").empty()) {
    container["imagePullPolicy"] = PullPolicyFor(StringAt(container, "image"));
  }
  if (Json* resources = Member(container, "resources")) RoundUp(*resources);
  // Stop signals are alpha and off in 1.36.
  if (Json* lifecycle = Member(container, "lifecycle")) lifecycle->erase("stopSignal");
}

bool HasSource(const Json& volume) {
  return std::any_of(volume.items().begin(), volume.items().end(),
                     [](const auto& field) { return field.key() != "name" && !field.value().is_null(); });
}

void DefaultVolume(Json& volume) {
  if (!HasSource(volume)) volume["emptyDir"] = Json::object();
  if (Json* image = Member(volume, "image"); image != nullptr && StringAt(*image, "pullPolicy").empty()) {
    (*image)["pullPolicy"] = PullPolicyFor(StringAt(*image, "reference"));
  }
  if (Json* projected = Member(volume, "projected")) {
    // Both are beta and off in 1.36.
    ForEach(*projected, "sources", [](Json& source) {
      source.erase("clusterTrustBundle");
      source.erase("podCertificate");
    });
  }
  if (Json* ephemeral = Member(volume, "ephemeral")) {
    Json* claim = Member(*ephemeral, "volumeClaimTemplate");
    Json* spec = claim == nullptr ? nullptr : Member(*claim, "spec");
    if (Json* resources = spec == nullptr ? nullptr : Member(*spec, "resources")) RoundUp(*resources);
  }
}

// serviceAccount is the old name of serviceAccountName; both are always written.
void DefaultServiceAccount(Json& spec) {
  const std::string name(StringAt(spec, "serviceAccountName"));
  if (!name.empty()) {
    spec["serviceAccount"] = name;
  } else if (const std::string old(StringAt(spec, "serviceAccount")); !old.empty()) {
    spec["serviceAccountName"] = old;
  }
}

void RequestsFromLimits(Json& container) {
  const Json limits = ObjectAt(container, "resources", "limits");
  for (const auto& [name, amount] : limits.items()) {
    Json& requests = container["resources"]["requests"];
    if (!requests.contains(name)) requests[name] = amount;
  }
}

void HostPortsFromContainerPorts(Json& container) {
  ForEach(container, "ports", [](Json& port) {
    const std::int64_t number = IntAt(port, 0, "containerPort");
    if (number != 0 && IntAt(port, 0, "hostPort") == 0) port["hostPort"] = number;
  });
}

// Limits of huge pages and requests that a pod states for itself are completed from its containers'.
void DefaultPodLevelResources(Json& spec) {
  Json* resources = Member(spec, "resources");
  if (resources == nullptr) return;
  const bool any = !ObjectAt(*resources, "limits").empty() || !ObjectAt(*resources, "requests").empty();
  if (!any) return;
  for (const auto& [name, amount] : api::ContainersTotal(spec, "limits")) {
    if (!IsHugePageResource(name) || Find(*resources, "requests", name) != nullptr) continue;
    if (Find(*resources, "limits", name) == nullptr) (*resources)["limits"][name] = amount.ToString();
  }
  const Json limits = ObjectAt(*resources, "limits");
  if (limits.empty()) return;
  for (const auto& [name, amount] : api::ContainersTotal(spec, "requests")) {
    if (!IsPodLevelResource(name) || !IsOvercommitAllowed(name)) continue;
    if (Find(*resources, "requests", name) == nullptr) (*resources)["requests"][name] = amount.ToString();
  }
  for (const auto& [name, amount] : limits.items()) {
    if (!IsPodLevelResource(name) || Find(*resources, "requests", name) != nullptr) continue;
    (*resources)["requests"][name] = amount;
  }
}

}  // namespace

void DefaultPodSpec(Json& pod_spec) {
  if (!pod_spec.is_object()) return;
  for (const char* list : kContainerLists) ForEach(pod_spec, list, DefaultContainer);
  ForEach(pod_spec, "volumes", DefaultVolume);
  DefaultServiceAccount(pod_spec);
  if (Json* resources = Member(pod_spec, "resources")) RoundUp(*resources);
  pod_spec.erase("schedulingGroup");  // alpha and off in 1.36
}

void DefaultPod(Json& pod) {
  Json* spec = Member(pod, "spec");
  if (spec == nullptr) return;
  DefaultPodSpec(*spec);
  for (const char* list : {"containers", "initContainers"}) ForEach(*spec, list, RequestsFromLimits);
  DefaultPodLevelResources(*spec);
  if (BoolAt(*spec, "hostNetwork")) {
    for (const char* list : {"containers", "initContainers"})
      ForEach(*spec, list, HostPortsFromContainerPorts);
  }
  if (IntAt(*spec, 0, "terminationGracePeriodSeconds") < 0) (*spec)["terminationGracePeriodSeconds"] = 1;
}

}  // namespace terrarium::apiserver
