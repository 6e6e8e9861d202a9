#pragma once

// The claims, volumes and storage classes of the cluster, and the nodes on which pods can use them.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/core_v1/volume_binding.h"
#include "api/json.h"
#include "api/object.h"
#include "kubelet-fake/scheduler/internal/diagnosis.h"

namespace terrarium::kubelet_fake::scheduling {

class Volumes;
struct NodeInfo;
struct Requirements;

// What the claims of a pod ask of a node. Valid while the volumes have that generation.
struct VolumeNeeds {
  std::uint64_t generation = 0;
  const Volumes* volumes = nullptr;
  std::string refusal;  // why the pod can run on no node; "" if it can
  std::vector<const api::Volume*> bound;
  bool volume_missing = false;                   // a claim is bound to a volume that does not exist
  std::vector<const api::VolumeClaim*> unbound;  // wait for the pod's node; the smallest first
  std::vector<api::ObjectName> exclusive;        // one pod at a time may use them
  std::vector<std::pair<std::string, std::set<std::string>>> zones;  // node labels that `bound` asks for
};

// How the unbound claims of a pod get volumes on a node.
struct VolumePlan {
  struct Pair {
    std::string volume;
    api::ObjectName claim;
  };
  std::vector<Pair> bindings;
  std::vector<api::ObjectName> provisions;  // claims for which a provisioner makes a volume

  bool empty() const { return bindings.empty() && provisions.empty(); }
};

class Volumes {
 public:
  void SetClaim(const api::ObjectPtr& claim);
  void RemoveClaim(const api::ObjectName& name);
  void SetVolume(const api::ObjectPtr& volume);
  void RemoveVolume(const std::string& name);
  void SetClass(const api::ObjectPtr& storage_class);
  void RemoveClass(const std::string& name);
  // Changes with each of these.
  std::uint64_t generation() const { return generation_; }

  const api::VolumeClaim* FindClaim(const api::ObjectName& name) const;
  const api::Volume* FindVolume(const std::string& name) const;

  VolumeNeeds NeedsOf(const Requirements& wants) const;
  // nullopt: not on that node.
  std::optional<VolumePlan> PlanOn(const VolumeNeeds& needs, const api::ObjectHeader& node) const;
  // The plan counts from now on, although the apiserver does not have it yet, until it is forgotten.
  void Assume(const VolumePlan& plan, const std::string& node);
  void Forget(const VolumePlan& plan);

  // Pods with a node that use the claim.
  int UsersOf(const api::ObjectName& claim) const;
  void CountUser(const Requirements& wants, int change);

 private:
  struct StorageClass {
    bool waits_for_consumer = false;
    bool provisions = false;
    // Any of the terms must match; each is a list of labels with their possible values.
    std::vector<std::vector<std::pair<std::string, std::set<std::string>>>> topologies;
  };
  bool Provisions(const api::VolumeClaim& claim, const api::ObjectHeader& node) const;

  std::map<api::ObjectName, api::VolumeClaim> claims_;
  std::map<std::string, api::Volume> volumes_;
  std::map<std::string, std::set<std::string>> volumes_by_class_;
  std::map<std::string, StorageClass> classes_;
  std::map<api::ObjectName, std::string> assumed_nodes_;   // by claim
  std::map<std::string, api::ObjectName> assumed_claims_;  // by volume
  std::map<api::ObjectName, int> users_;
  std::uint64_t generation_ = 1;
};

// The filters of volumes, in their order.
bool FitsVolumes(const VolumeNeeds& needs, const NodeInfo& node, Diagnosis& why);

}  // namespace terrarium::kubelet_fake::scheduling
