#pragma once

// The ownership graph, by uid, as observed by the informers: each node is in the dependents of its owners.
// Events change the graph, and the graph enqueues the objects to check through Effects. Pure: it reads no
// clock and sends nothing. Mirrors pkg/controller/garbagecollector/graph_builder.go, v1.36.
//
// An owner known only from its dependents' references has an unobserved node: the collector must ask the
// apiserver whether it exists. The cost of an event does not grow with the number of objects or of siblings.

#include <cstdint>
#include <functional>
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
  NodesBySerial blocking;           // their reference has blockOwnerDeletion
  NodesBySerial blocking_and_kept;  // blocking, and not being deleted yet
};

struct Node {
  Identity identity;
  std::uint64_t serial = 0;  // in order of creation: a deterministic order, unlike addresses
  std::vector<OwnerReference> owners;
  std::unique_ptr<Dependents> dependents_if_any;  // most objects own nothing
  bool observed = false;
  bool being_deleted = false;
  bool deleting_dependents = false;  // is deleted in the foreground and waits for its dependents

  const Dependents& dependents() const;
};

class Graph {
 public:
  // The graph calls these to enqueue an object or to report one.
  class Effects {
   public:
    virtual ~Effects() = default;
    virtual void ToDelete(const std::string& uid) = 0;
    virtual void ToDeleteLater(const std::string& uid) = 0;  // with the queue's backoff
    virtual void ToOrphan(const std::string& uid) = 0;
    // `dependent` refers to an owner in another namespace.
    virtual void InvalidNamespace(const Node& dependent, const OwnerReference& owner) = 0;
  };
  // `effects` outlives the graph.
  explicit Graph(Effects& effects) : effects_(effects) {}

  // An informer observed the object. `before`: the deletion marks of the version observed before it, if any.
  void Observed(Identity identity, Ownership ownership, const DeletionMarks* before = nullptr);
  // An informer observed the object's deletion.
  void Removed(const Identity& identity);
  // The apiserver has no such object, or no longer has it.
  void FoundAbsent(const Identity& identity);
  // The apiserver has accepted a delete of the object, which cannot be undone.
  void DeleteAccepted(std::string_view uid);

  const Node* Find(std::string_view uid) const;
  // The uids of objects that refer to an owner of a kind, and of unobserved owners of that kind. The
  // collector attempts them again when the kind begins to be served. Visits every object.
  std::vector<std::string> Concerning(
      const std::function<bool(const std::string& api_version, const std::string& kind)>& is_kind) const;
  AbsentOwners& absent_owners() { return absent_; }
  std::size_t size() const { return nodes_.size(); }

 private:
  using Nodes = std::map<std::string, Node, std::less<>>;

  Node* FindMutable(std::string_view uid);
  void Link(Node& node, const std::vector<OwnerReference>& owners);
  // True when the reference may be invalid, so that the dependent must be checked.
  bool IsPotentiallyInvalid(const Node& node, const OwnerReference& reference, const Node& owner);
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

// The dependents that refer to the owner by `identity`, and those that refer to it by another identity. A
// dependent with two references can be in both.
struct Partition {
  std::vector<Node*> matching;
  std::vector<Node*> other;
};
Partition PartitionDependents(const NodesBySerial& dependents, const Identity& identity);

// The identity to try after `absent`, from the references of the dependents: the first one after `absent` in
// the order of identities, else the first of all. nullopt when there is no other.
std::optional<Identity> AlternateIdentity(const std::vector<Node*>& dependents, const Identity& absent);

}  // namespace terrarium::controllers::garbage_collector
