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

}  // namespace

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
  return out;
}

std::string RequirementsText(const api::ObjectHeader& header, const Json& pod) {
  std::string out = header.ns;
  for (const auto& [key, value] : header.labels) out.append(1, '\0').append(key).append(1, '=').append(value);
  const Json& spec = ObjectAt(pod, "spec");
  for (const char* field :
       {"affinity", "nodeSelector", "overhead", "preemptionPolicy", "resources", "tolerations"}) {
    AppendField(spec, field, out);
  }
  out.append(1, '\0').append(std::to_string(api::IntAt(spec, 0, "priority")));
  AppendContainers(spec, "initContainers", out);
  AppendContainers(spec, "containers", out);
  return out;
}

}  // namespace terrarium::kubelet_fake::scheduling
