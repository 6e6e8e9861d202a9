#include "kubelet-fake/scheduler/internal/node_info.h"

#include <algorithm>

#include "api/base/check.h"
#include "api/json_access.h"
#include "kubelet-fake/scheduler/internal/pod_class.h"

namespace terrarium::kubelet_fake::scheduling {

NodeFacts NodeFacts::Of(const api::ObjectPtr& node) {
  const auto document = node->Document();
  const api::Json& spec = api::ObjectAt(*document, "spec");
  return {AllocatableOf(api::ObjectAt(*document, "status")), TaintsOf(spec),
          api::BoolAt(spec, "unschedulable"), node};
}

bool NodeFacts::SameAs(const NodeFacts& other) const {
  if ((object == nullptr) != (other.object == nullptr)) return false;
  return (object == nullptr || header().labels == other.header().labels) &&
         unschedulable == other.unschedulable && taints == other.taints && allocatable == other.allocatable;
}

void NodeInfo::Add(const std::shared_ptr<PodClass>& pod_class) {
  const Requirements& wants = pod_class->wants;
  requested.Add(wants.resources.requests);
  scoring_milli_cpu += wants.resources.scoring_milli_cpu;
  scoring_memory += wants.resources.scoring_memory;
  ++pods;
  ports.insert(ports.end(), wants.host_ports.begin(), wants.host_ports.end());
  for (Placed& entry : placed) {
    if (entry.pod_class != pod_class) continue;
    ++entry.pods;
    return;
  }
  placed.push_back({pod_class, 1});
}

void NodeInfo::Remove(const PodClass& pod_class) {
  const Requirements& wants = pod_class.wants;
  requested.Subtract(wants.resources.requests);
  scoring_milli_cpu -= wants.resources.scoring_milli_cpu;
  scoring_memory -= wants.resources.scoring_memory;
  --pods;
  for (const HostPort& port : wants.host_ports) ports.erase(std::find(ports.begin(), ports.end(), port));
  const auto entry = std::find_if(placed.begin(), placed.end(),
                                  [&](const Placed& p) { return p.pod_class.get() == &pod_class; });
  CHECK(entry != placed.end());
  if (--entry->pods == 0) placed.erase(entry);
}

}  // namespace terrarium::kubelet_fake::scheduling
