#pragma once

// Who owns whom, by uid, as far as the informers have told: an object's node stands in its owners' lists of dependents.
// Events change the graph, and the graph says which objects are to be looked at. Pure: it reads no clock and sends
// nothing. Mirrors pkg/controller/garbagecollector/graph_builder.go, v1.36.
//
// An owner that only its dependents speak of has an unobserved node: somebody has to ask the apiserver whether it
// exists. The cost of an event does not grow with the number of objects or of siblings.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/garbage_collector/internal/absent_owners.h"
#include "controllers/garbage_collector/internal/identity.h"
#include "controllers/garbage_collector/internal/ownership.h"

namespace terrarium::controllers::garbage_collector {

struct Node;
using NodesBySerial = std::map<std::uint64_t, Node*>;

struct Dependents {
  NodesBySerial all;
  NodesBySerial blocking;           // those whose reference has blockOwnerDeletion
  NodesBySerial blocking_and_kept;  // of these, the ones that are not being deleted yet
};

struct Node {
  Identity identity;
  std::uint64_t serial = 0;  // by order of appearance, so that lists have an order that is not one of addresses
  std::vector<OwnerReference> owners;
  std::unique_ptr<Dependents> dependents_if_any;  // most objects own nothing
  bool observed = false;
  bool being_deleted = false;
  bool deleting_dependents = false;  // deleted in the foreground: waits for its dependents

  const Dependents& dependents() const;
};

class Graph {
 public:
  // What comes of an event.
  class Effects {
   public:
    virtual ~Effects() = default;
    virtual void ToDelete(const std::string& uid) = 0;
    virtual void ToDeleteLater(const std::string& uid) = 0;  // with the queue's backoff
    virtual void ToOrphan(const std::string& uid) = 0;
    // `dependent` names an owner that lives in another namespace.
    virtual void InvalidNamespace(const Node& dependent, const OwnerReference& owner) = 0;
  };
  // `effects` outlives the graph.
  explicit Graph(Effects& effects) : effects_(effects) {}

  // An object was seen. `before`: its deletion marks in the state that was seen last, when there is one.
  void Observed(Identity identity, Ownership ownership, const DeletionMarks* before = nullptr);
  // An object was seen going.
  void Removed(const Identity& identity);
  // The apiserver has no such object (any more).
  void FoundAbsent(const Identity& identity);
  // The apiserver has taken a delete of it: there is no way back.
  void DeleteAccepted(std::string_view uid);

  const Node* Find(std::string_view uid) const;
  AbsentOwners& absent_owners() { return absent_; }
  std::size_t size() const { return nodes_.size(); }

 private:
  using Nodes = std::map<std::string, Node, std::less<>>;

  Node* FindMutable(std::string_view uid);
  void Link(Node& node, const std::vector<OwnerReference>& owners);
  // True when the reference may be wrong, so that the dependent is worth a look.
  bool LooksWrong(const Node& node, const OwnerReference& reference, const Node& owner);
  void Unlink(const Node& node, const std::string& owner_uid);
  void NoteWhetherBlocking(Node& owner, Node& dependent);
  void BecomeObserved(Node& node, Identity identity);
  void ChangeOwners(Node& node, std::vector<OwnerReference> owners);
  void SetBeingDeleted(Node& node);
  void StartDeletion(Node& node, const DeletionMarks& now, const DeletionMarks* before);
  void Remove(Nodes::iterator place, const Identity& identity);
  void NoteAbsentFor(const std::vector<Node*>& dependents, const Identity& identity);
  void ReportNamespace(const Node& dependent, const std::string& owner_uid);

  Effects& effects_;
  Nodes nodes_;
  AbsentOwners absent_;
  std::uint64_t next_serial_ = 1;
};

// Which dependents refer to the owner as `identity` does, and which in another way. One with two references can be in
// both.
struct Partition {
  std::vector<Node*> matching;
  std::vector<Node*> other;
};
Partition PartitionDependents(const NodesBySerial& dependents, const Identity& identity);

// The next place to look for an owner that is not at `absent`, from what dependents say: the first one after `absent`
// in the order of identities, else the first of all. nullopt: there is no other.
std::optional<Identity> AlternateIdentity(const std::vector<Node*>& dependents, const Identity& absent);

}  // namespace terrarium::controllers::garbage_collector
