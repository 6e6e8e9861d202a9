#pragma once

// The pods of each owner with their counts, and the orphans that it could adopt. Updated on every event, at a
// cost logarithmic in the number of pods. Pure, single-threaded.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/base/clock.h"
#include "api/object.h"
#include "api/object_name.h"
#include "api/selector/label_selector.h"
#include "controllers/replicaset/internal/pod_counts.h"
#include "controllers/replicaset/internal/pod_facts.h"
#include "controllers/runtime/selector_index.h"

namespace terrarium::controllers::replicaset {

using api::ObjectName;
using api::ObjectPtr;

// The fields of an owner that determine its pods.
struct OwnerRules {
  std::string uid;
  api::LabelSelector selector;
  api::LabelSelector template_labels;
  api::Duration min_ready{};
  std::string controller_uid;  // of the owner's own controller; empty: it has none

  friend bool operator==(const OwnerRules&, const OwnerRules&) = default;
};

// A number for each name of a node, the empty one included.
using NodeNumber = int;

struct OwnedPod {
  ObjectPtr pod;
  PodFacts facts;
  PodShare share;
  NodeNumber node = 0;
};

// The pods that name an owner as their controller.
struct PodGroup {
  std::optional<OwnerRules> rules;  // nullopt while the owner has not been seen
  std::vector<OwnedPod*> pods;
  PodCounts counts;
  std::map<NodeNumber, int> live_by_node;
  // Names of active pods: controlled pods that the selector no longer matches, and orphans that it matches.
  std::set<std::string> strays;
  std::set<std::string> adoptable;
};

class ReplicaIndex {
 public:
  // `kind`: the kind of the owners.
  explicit ReplicaIndex(std::string_view kind) : kind_(kind) {}

  void SetOwner(const ObjectName& name, OwnerRules rules);
  void RemoveOwner(const ObjectName& name);

  // The effect of a pod event on a known owner.
  struct Effect {
    ObjectName owner;
    enum class Relation { kControls, kControlledBefore, kMayAdopt } relation;
    enum class Change {
      kNone,         // its counts are unchanged
      kTerminating,  // only its number of terminating pods has changed
      kAny,          // its counts, or the pods to adopt or release, have changed
    } change;
  };
  // An older state of a pod than the one put before is ignored: an adoption is put as soon as it is written,
  // and events from before it may follow.
  std::vector<Effect> PutPod(const ObjectPtr& pod);
  std::vector<Effect> RemovePod(const api::Object& pod);

  // The pods of an owner; nullptr when it is unknown. Valid until the owner or a pod changes.
  PodGroup* Find(const ObjectName& owner);
  // By the node's number, the live pods there of the owner and of the owners with the same controller. All 0
  // for an owner without a controller, as in Kubernetes, contrary to its documentation.
  std::vector<int> LivePodsByNode(const ObjectName& owner) const;

 private:
  using OwnerKey = std::tuple<ObjectName, std::string>;  // name, uid
  using Groups = std::map<OwnerKey, PodGroup>;
  struct Held : OwnedPod {
    Groups::iterator group;
    std::size_t slot = 0;  // where it is among the group's pods
  };

  // The orphans of a namespace are a group whose owner has neither name nor uid.
  static bool OfOrphans(const Groups::iterator& group) { return std::get<1>(group->first).empty(); }
  // The group of a pod; nullopt: these owners do not count it.
  std::optional<OwnerKey> KeyOf(const api::Object& pod) const;
  void PutOrphan(Held& held, const ObjectPtr& pod, std::vector<Effect>& effects);
  void PutOwned(Held& held, const ObjectPtr& pod, std::vector<Effect>& effects);
  void Join(Held& held, Groups::iterator group);
  void Leave(Held& held);
  NodeNumber NumberOf(std::string_view node);
  void Count(Held& held);
  void Uncount(const Held& held);
  void SetAdoptable(const api::Object& orphan, bool adoptable, std::vector<Effect>& effects);
  void DropIfUnused(Groups::iterator group);

  const std::string_view kind_;
  std::map<ObjectName, Held> pods_;
  Groups groups_;
  std::map<ObjectName, Groups::iterator> owners_;  // those seen
  std::map<std::string, std::set<ObjectName>, std::less<>>
      siblings_;  // owners by the uid of their controller
  SelectorIndex selectors_;
  std::map<std::string, NodeNumber, std::less<>> node_numbers_;
};

}  // namespace terrarium::controllers::replicaset
