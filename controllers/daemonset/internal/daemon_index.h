#pragma once

// All DaemonSets with their nodes and pods, kept up to date by events. Pure, single-threaded.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object.h"
#include "api/object_name.h"
#include "api/selector/label_selector.h"
#include "controllers/daemonset/internal/daemon_nodes.h"
#include "controllers/daemonset/internal/placement.h"
#include "controllers/runtime/selector_index.h"

namespace terrarium::controllers::daemonset {

using api::ObjectName;
using api::ObjectPtr;

// The fields of a DaemonSet that determine its nodes and pods.
struct OwnerRules {
  std::string uid;
  std::int64_t generation = 0;  // of its spec
  api::LabelSelector selector;
  Placement placement;
};

class DaemonIndex {
 public:
  // `now` never goes back from call to call.
  explicit DaemonIndex(const api::Clock& clock) : clock_(clock) {}

  struct Owner {
    bool known = false;  // false while only its pods have been seen
    OwnerRules rules;
    DaemonNodes nodes;
    std::int64_t reported_misscheduled = 0;  // in its status
    // Names of pods to look at: controlled pods that the selector no longer matched, and orphans that it
    // matched. Cleared by the sync that claims them.
    std::set<std::string> strays;
    std::set<std::string> adoptable;
  };

  // Whether rules for this object are known, so that its document need not be read.
  bool HasRules(const ObjectName& name, const std::string& uid, std::int64_t generation) const;
  void SetOwner(const ObjectName& name, OwnerRules rules);
  void RemoveOwner(const ObjectName& name);
  // nullptr when unknown. Valid until the owner is removed.
  Owner* Find(const ObjectName& name);

  // The owners to sync. A change of other fields than labels and taints is ignored.
  std::vector<ObjectName> PutNode(const ObjectPtr& node);
  // No owner needs a sync: the pods of the node will be deleted.
  void RemoveNode(const std::string& name);

  // The known owners that a pod event affects. An older state of a pod than the one put before is ignored.
  struct Effect {
    ObjectName owner;
    enum class Relation { kControls, kControlledBefore, kMayAdopt } relation;
  };
  std::vector<Effect> PutPod(const ObjectPtr& pod);
  std::vector<Effect> RemovePod(const api::Object& pod);
  // The owners whose selectors match.
  std::vector<ObjectName> Matching(const api::ObjectHeader& header) const {
    return selectors_.Matching(header);
  }

 private:
  using OwnerKey = std::tuple<ObjectName, std::string>;  // name, uid
  struct Held;
  struct Group : Owner {
    std::set<Held*> pods;  // all that name the owner as controller
  };
  using Groups = std::map<OwnerKey, Group>;
  struct Held : DaemonPod {
    Groups::iterator group;
    std::string node;      // where it is or is meant to be; empty: none
    bool counted = false;  // is part of the group's nodes
  };
  struct NodeInfo {
    ObjectPtr object;
    api::Json taints;
  };

  NodeState StateOf(const Group& group, const std::string& node) const;
  void Count(Held& held);
  void Uncount(Held& held);
  void DropIfUnused(Groups::iterator group);

  const api::Clock& clock_;
  std::map<std::string, NodeInfo> nodes_;
  std::map<ObjectName, std::unique_ptr<Held>> pods_;
  Groups groups_;
  std::map<ObjectName, Groups::iterator> owners_;  // the known ones
  SelectorIndex selectors_;
};

}  // namespace terrarium::controllers::daemonset
