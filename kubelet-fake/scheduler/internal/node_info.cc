#include "kubelet-fake/scheduler/internal/node_info.h"

#include <algorithm>
#include <utility>

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

void NodeInfo::Add(const std::shared_ptr<PodClass>& pod_class, bool terminating) {
  const Requirements& wants = pod_class->wants;
  requested.Add(wants.resources.requests);
  scoring_milli_cpu += wants.resources.scoring_milli_cpu;
  scoring_memory += wants.resources.scoring_memory;
  ++pods;
  UpdateEvenness();
  ports.insert(ports.end(), wants.host_ports.begin(), wants.host_ports.end());
  for (Placed& entry : placed) {
    if (entry.pod_class != pod_class) continue;
    ++entry.pods;
    entry.terminating += terminating ? 1 : 0;
    return;
  }
  placed.push_back({pod_class, 1, terminating ? 1 : 0});
}

NodeInfo::Placed& NodeInfo::FindPlaced(const PodClass& pod_class) {
  const auto entry = std::find_if(placed.begin(), placed.end(),
                                  [&](const Placed& p) { return p.pod_class.get() == &pod_class; });
  CHECK(entry != placed.end());
  return *entry;
}

void NodeInfo::UpdateEvenness() {
  evenness = EvennessOf(requested.milli_cpu, requested.memory, facts.allocatable.resources);
}

void NodeInfo::BeginTermination(const PodClass& pod_class) { ++FindPlaced(pod_class).terminating; }

void NodeInfo::Remove(const PodClass& pod_class, bool terminating) {
  const Requirements& wants = pod_class.wants;
  requested.Subtract(wants.resources.requests);
  scoring_milli_cpu -= wants.resources.scoring_milli_cpu;
  scoring_memory -= wants.resources.scoring_memory;
  --pods;
  UpdateEvenness();
  for (const HostPort& port : wants.host_ports) ports.erase(std::find(ports.begin(), ports.end(), port));
  Placed& entry = FindPlaced(pod_class);
  entry.terminating -= terminating ? 1 : 0;
  if (--entry.pods > 0) return;
  if (&entry != &placed.back()) entry = std::move(placed.back());
  placed.pop_back();
}

}  // namespace terrarium::kubelet_fake::scheduling
