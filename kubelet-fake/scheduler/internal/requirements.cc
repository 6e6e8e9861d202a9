#include "kubelet-fake/scheduler/internal/requirements.h"

#include "api/json_access.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Find;
using api::Json;
using api::ListAt;
using api::ObjectAt;
using api::StringAt;

// Different values give different texts. Like dump(), which costs several times as much.
void AppendValue(const Json& value, std::string& out) {
  switch (value.type()) {
    case Json::value_t::object:
      out += '{';
      for (auto it = value.begin(); it != value.end(); ++it) {
        out.append(it.key()).append(1, '\0');
        AppendValue(*it, out);
      }
      out += '}';
      break;
    case Json::value_t::array:
      out += '[';
      for (const Json& item : value) AppendValue(item, out);
      out += ']';
      break;
    case Json::value_t::string:
      out.append(1, '"').append(value.get_ref<const std::string&>()).append(1, '\0');
      break;
    default: out.append(value.dump()).append(1, ',');
  }
}

void AppendField(const Json& object, const char* field, std::string& out) {
  const Json* value = Find(object, field);
  if (value == nullptr) return;
  out.append(1, '\0').append(field);
  AppendValue(*value, out);
}

void AppendContainers(const Json& spec, const char* list, std::string& out) {
  for (const Json& container : ListAt(spec, list)) {
    out.append(1, '\0').append(list);
    AppendField(container, "restartPolicy", out);
    AppendField(ObjectAt(container, "resources"), "requests", out);
    for (const Json& port : ListAt(container, "ports")) {
      if (api::IntAt(port, 0, "hostPort") > 0) AppendValue(port, out);
    }
  }
}

bool HasEphemeralVolume(const Json& spec) {
  for (const Json& volume : ListAt(spec, "volumes")) {
    if (Find(volume, "ephemeral") != nullptr) return true;
  }
  return false;
}

// An ephemeral volume has a claim of the pod's own.
void AppendClaims(const api::ObjectHeader& header, const Json& spec, std::string& out) {
  for (const Json& volume : ListAt(spec, "volumes")) {
    if (const Json* claim = Find(volume, "persistentVolumeClaim")) {
      out.append(1, '\0').append("claim").append(StringAt(*claim, "claimName"));
    } else if (Find(volume, "ephemeral") != nullptr) {
      out.append(1, '\0').append("own").append(StringAt(volume, "name")).append(header.uid);
    }
  }
}

const api::OwnerReference* SpreadWorkload(const api::ObjectHeader& header, const Json& spec) {
  const api::OwnerReference* owner = header.controller.get();
  if (owner == nullptr || WorkloadResource(*owner).empty()) return nullptr;
  return ListAt(spec, "topologySpreadConstraints").empty() ? owner : nullptr;
}

}  // namespace

std::string_view WorkloadResource(const api::OwnerReference& owner) {
  if (owner.kind == "ReplicaSet" && owner.api_version == "apps/v1") return "replicasets";
  if (owner.kind == "StatefulSet" && owner.api_version == "apps/v1") return "statefulsets";
  if (owner.kind == "ReplicationController" && owner.api_version == "v1") return "replicationcontrollers";
  return "";
}

Requirements RequirementsOf(const api::ObjectHeader& header, const Json& pod) {
  static const Taint kCordon{"node.kubernetes.io/unschedulable", "", TaintEffect::kNoSchedule};
  const Json& spec = ObjectAt(pod, "spec");
  Requirements out;
  out.pod.ns = header.ns;
  out.pod.labels = header.labels;
  out.priority = api::IntAt(spec, 0, "priority");
  out.may_preempt = StringAt(spec, "preemptionPolicy") != "Never";
  out.resources = RequestsOf(spec);
  out.tolerations = TolerationsOf(spec);
  out.tolerates_unschedulable = Tolerated(kCordon, out.tolerations);
  out.node_affinity = api::NodeAffinityOf(spec);
  out.host_ports = HostPortsOf(spec);
  out.affinity = RequiredPodTerms(spec, "podAffinity", header.ns);
  out.anti_affinity = RequiredPodTerms(spec, "podAntiAffinity", header.ns);
  out.preferred = PreferredPodTerms(spec, header.ns);
  out.declares_spread = !ListAt(spec, "topologySpreadConstraints").empty();
  if (out.declares_spread) {
    out.hard_spread = SpreadConstraintsOf(header, spec, "DoNotSchedule");
    out.soft_spread = SpreadConstraintsOf(header, spec, "ScheduleAnyway");
  }
  out.claims = api::ClaimsOfPod(pod);
  if (HasEphemeralVolume(spec)) {
    out.pod.name = header.name;
    out.pod.uid = header.uid;
  }
  AppendField(spec, "nodeSelector", out.node_affinity_text);
  AppendField(ObjectAt(spec, "affinity"), "nodeAffinity", out.node_affinity_text);
  AppendField(spec, "tolerations", out.tolerations_text);
  if (SpreadWorkload(header, spec) != nullptr) out.workload = header.controller;
  return out;
}

std::string RequirementsText(const api::ObjectHeader& header, const Json& pod) {
  std::string out = header.ns;
  for (const auto& [key, value] : header.labels) out.append(1, '\0').append(key).append(1, '=').append(value);
  const Json& spec = ObjectAt(pod, "spec");
  for (const char* field : {"affinity", "nodeSelector", "overhead", "preemptionPolicy", "resources",
                            "tolerations", "topologySpreadConstraints"}) {
    AppendField(spec, field, out);
  }
  if (const api::OwnerReference* owner = SpreadWorkload(header, spec))
    out.append(1, '\0').append(owner->kind).append(1, '/').append(owner->name);
  out.append(1, '\0').append(std::to_string(api::IntAt(spec, 0, "priority")));
  AppendClaims(header, spec, out);
  AppendContainers(spec, "initContainers", out);
  AppendContainers(spec, "containers", out);
  return out;
}

}  // namespace terrarium::kubelet_fake::scheduling
