#pragma once

// A node, and the sums over the pods that are placed on it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/object.h"
#include "kubelet-fake/scheduler/internal/host_ports.h"
#include "kubelet-fake/scheduler/internal/resources.h"
#include "kubelet-fake/scheduler/internal/taints.h"

namespace terrarium::kubelet_fake::scheduling {

struct PodClass;
struct PodRecord;

// The properties of the Node object.
struct NodeFacts {
  Allocatable allocatable;
  std::vector<Taint> taints;
  bool unschedulable = false;
  api::ObjectPtr object;  // nullptr: pods are placed on it, but the node is not known (any more)

  static NodeFacts Of(const api::ObjectPtr& node);
  const api::ObjectHeader& header() const { return object->header(); }
  // Whether all properties relevant to scheduling are equal.
  bool SameAs(const NodeFacts& other) const;
};

// The members that every decision reads come first: one pod's decision may visit hundreds of nodes.
struct alignas(64) NodeInfo {
  // Sums over the pods that count here.
  Resources requested;
  std::int64_t scoring_milli_cpu = 0;
  std::int64_t scoring_memory = 0;
  std::int64_t pods = 0;
  std::int64_t evenness = 100;  // EvennessOf(requested)
  NodeFacts facts;

  std::string name;
  std::vector<std::size_t> domains;  // by number of the topology key
  std::vector<HostPort> ports;       // taken
  struct Placed {
    std::shared_ptr<PodClass> pod_class;
    int pods = 0;
    int terminating = 0;  // of them
  };
  std::vector<Placed> placed;
  // The same pods one by one, in no particular order.
  std::vector<PodRecord*> residents;
  // Pods that will probably come here, in the order of their nominations.
  std::vector<PodRecord*> nominated;

  void Add(const std::shared_ptr<PodClass>& pod_class, bool terminating);
  void Remove(const PodClass& pod_class, bool terminating);
  // After a change of the facts.
  void UpdateEvenness();
  // A pod of the class that is placed here begins to terminate.
  void BeginTermination(const PodClass& pod_class);

 private:
  Placed& FindPlaced(const PodClass& pod_class);
};

}  // namespace terrarium::kubelet_fake::scheduling
