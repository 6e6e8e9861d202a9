#include "controllers/garbage_collector/internal/graph.h"

#include <algorithm>
#include <utility>

namespace terrarium::controllers::garbage_collector {
namespace {

const OwnerReference* ReferenceTo(const std::vector<OwnerReference>& owners, const std::string& uid) {
  auto it = std::find_if(owners.begin(), owners.end(), [&](const OwnerReference& r) { return r.uid == uid; });
  return it == owners.end() ? nullptr : &*it;
}

bool Blocks(const Node& dependent, const std::string& owner_uid) {
  return std::any_of(dependent.owners.begin(), dependent.owners.end(),
                     [&](const OwnerReference& r) { return r.uid == owner_uid && r.block_owner_deletion; });
}

}  // namespace

const Dependents& Node::dependents() const {
  static const Dependents none;
  return dependents_if_any != nullptr ? *dependents_if_any : none;
}

const Node* Graph::Find(std::string_view uid) const {
  auto it = nodes_.find(uid);
  return it == nodes_.end() ? nullptr : &it->second;
}

Node* Graph::FindMutable(std::string_view uid) {
  auto it = nodes_.find(uid);
  return it == nodes_.end() ? nullptr : &it->second;
}

void Graph::Observed(Identity identity, Ownership ownership, const DeletionMarks* before) {
  auto [place, is_new] = nodes_.try_emplace(identity.uid);
  Node& node = place->second;
  if (is_new) {
    node.identity = std::move(identity);
    node.serial = next_serial_++;
    node.observed = true;
    node.being_deleted = ownership.marks.deleting;
    node.deleting_dependents = ownership.marks.deleting && ownership.marks.foreground;
    node.owners = std::move(ownership.owners);
    Link(node, node.owners);
  } else {
    if (!node.observed) BecomeObserved(node, std::move(identity));
    ChangeOwners(node, std::move(ownership.owners));
    if (ownership.marks.deleting) SetBeingDeleted(node);
  }
  StartDeletion(node, ownership.marks, before);
}

void Graph::Link(Node& node, const std::vector<OwnerReference>& owners) {
  bool is_potentially_invalid = false;
  for (const OwnerReference& reference : owners) {
    auto [place, is_new] = nodes_.try_emplace(reference.uid);
    Node& owner = place->second;
    if (is_new) {
      owner.identity = OwnerIdentity(reference, node.identity.ns);
      owner.serial = next_serial_++;
      effects_.ToDelete(reference.uid);  // the attempt finds out whether the owner exists
    } else if (!is_potentially_invalid) {
      is_potentially_invalid = IsPotentiallyInvalid(node, reference, owner);
    }
    if (owner.dependents_if_any == nullptr) owner.dependents_if_any = std::make_unique<Dependents>();
    owner.dependents_if_any->all.emplace(node.serial, &node);
    NoteWhetherBlocking(owner, node);
  }
  if (is_potentially_invalid) effects_.ToDelete(node.identity.uid);
}

bool Graph::IsPotentiallyInvalid(const Node& node, const OwnerReference& reference, const Node& owner) {
  bool other_namespace = owner.identity.ns != node.identity.ns;
  if (other_namespace && !owner.identity.ns.empty()) {
    if (owner.observed) ReportNamespace(node, reference.uid);
    return true;
  }
  if (!PointsTo(reference, owner.identity)) return true;
  // Only a cluster-scoped dependent implies that this owner is cluster-scoped, and no informer has observed
  // it.
  return other_namespace && !owner.observed;
}

void Graph::Unlink(const Node& node, const std::string& owner_uid) {
  auto place = nodes_.find(owner_uid);
  if (place == nodes_.end() || place->second.dependents_if_any == nullptr) return;
  Node& owner = place->second;
  Dependents& dependents = *owner.dependents_if_any;
  dependents.all.erase(node.serial);
  dependents.blocking.erase(node.serial);
  dependents.blocking_and_kept.erase(node.serial);
  if (!dependents.all.empty()) return;
  owner.dependents_if_any.reset();
  // An unobserved owner without dependents has no reason to stay in the graph.
  if (!owner.observed) nodes_.erase(place);
}

void Graph::NoteWhetherBlocking(Node& owner, Node& dependent) {
  Dependents& dependents = *owner.dependents_if_any;
  dependents.blocking.erase(dependent.serial);
  dependents.blocking_and_kept.erase(dependent.serial);
  if (!Blocks(dependent, owner.identity.uid)) return;
  dependents.blocking.emplace(dependent.serial, &dependent);
  if (!dependent.being_deleted) dependents.blocking_and_kept.emplace(dependent.serial, &dependent);
}

void Graph::BecomeObserved(Node& node, Identity identity) {
  if (node.identity != identity) {
    // Some dependents refer to it by another identity. Enqueueing those with another valid owner is a no-op.
    for (Node* dependent : PartitionDependents(node.dependents().all, identity).other) {
      if (!identity.ns.empty() && dependent->identity.ns != identity.ns)
        ReportNamespace(*dependent, identity.uid);
      effects_.ToDelete(dependent->identity.uid);
    }
    node.identity = std::move(identity);
  }
  node.observed = true;
}

void Graph::ChangeOwners(Node& node, std::vector<OwnerReference> owners) {
  if (SameReferences(node.owners, owners)) return;
  std::vector<OwnerReference> before = std::exchange(node.owners, std::move(owners));
  for (const OwnerReference& gone : before) {
    if (ReferenceTo(node.owners, gone.uid) != nullptr) continue;
    // This may have been the last dependent that the owner waited for.
    if (gone.block_owner_deletion && Find(gone.uid) != nullptr) effects_.ToDelete(gone.uid);
    Unlink(node, gone.uid);
  }
  std::vector<OwnerReference> added;
  for (const OwnerReference& reference : node.owners) {
    const OwnerReference* old = ReferenceTo(before, reference.uid);
    if (old == nullptr) {
      added.push_back(reference);
      continue;
    }
    Node* owner = FindMutable(reference.uid);
    if (owner == nullptr || owner->dependents_if_any == nullptr) continue;
    NoteWhetherBlocking(*owner, node);
    if (old->block_owner_deletion && !reference.block_owner_deletion) effects_.ToDelete(reference.uid);
  }
  Link(node, added);
}

void Graph::SetBeingDeleted(Node& node) {
  if (node.being_deleted) return;
  node.being_deleted = true;
  for (const OwnerReference& reference : node.owners) {
    Node* owner = FindMutable(reference.uid);
    if (owner != nullptr && owner->dependents_if_any != nullptr)
      owner->dependents_if_any->blocking_and_kept.erase(node.serial);
  }
}

void Graph::DeleteAccepted(std::string_view uid) {
  // Whether an unobserved object is really being deleted is not known yet.
  if (Node* node = FindMutable(uid); node != nullptr && node->observed) SetBeingDeleted(*node);
}

void Graph::StartDeletion(Node& node, const DeletionMarks& now, const DeletionMarks* before) {
  if (!now.deleting) return;
  bool was_deleting = before != nullptr && before->deleting;
  if (now.orphan && !(was_deleting && before->orphan)) return effects_.ToOrphan(node.identity.uid);
  if (!now.foreground || (was_deleting && before->foreground)) return;
  node.deleting_dependents = true;
  for (auto& [serial, dependent] : node.dependents().all) effects_.ToDelete(dependent->identity.uid);
  effects_.ToDelete(node.identity.uid);
}

std::vector<std::string> Graph::Concerning(
    const std::function<bool(const std::string& api_version, const std::string& kind)>& is_kind) const {
  std::map<std::uint64_t, std::string> found;  // by serial, which makes the order deterministic
  for (const auto& [uid, node] : nodes_) {
    const bool refers = std::any_of(node.owners.begin(), node.owners.end(), [&](const OwnerReference& owner) {
      return is_kind(owner.api_version, owner.kind);
    });
    if (refers || (!node.observed && is_kind(node.identity.api_version, node.identity.kind)))
      found.emplace(node.serial, uid);
  }
  std::vector<std::string> out;
  for (auto& [serial, uid] : found) out.push_back(std::move(uid));
  return out;
}

void Graph::Removed(const Identity& identity) {
  if (auto place = nodes_.find(identity.uid); place != nodes_.end()) Remove(place, identity);
}

void Graph::Remove(Nodes::iterator place, const Identity& identity) {
  auto handle = nodes_.extract(place);
  Node& node = handle.mapped();
  for (const OwnerReference& reference : node.owners) Unlink(node, reference.uid);
  if (!node.dependents().all.empty()) absent_.Add(identity);
  for (auto& [serial, dependent] : node.dependents().all) effects_.ToDelete(dependent->identity.uid);
  for (const OwnerReference& reference : node.owners) {
    const Node* owner = Find(reference.uid);
    if (owner != nullptr && owner->deleting_dependents) effects_.ToDelete(reference.uid);
  }
}

void Graph::FoundAbsent(const Identity& identity) {
  auto place = nodes_.find(identity.uid);
  if (place == nodes_.end()) return;
  Node& node = place->second;
  if (node.observed) {
    if (node.identity == identity) return Remove(place, identity);
    // It was observed under another identity: it is absent only for dependents that refer to `identity`.
    return NoteAbsentFor(PartitionDependents(node.dependents().all, identity).matching, identity);
  }
  Partition partition = PartitionDependents(node.dependents().all, identity);
  if (partition.other.empty()) return Remove(place, identity);
  NoteAbsentFor(partition.matching, identity);
  if (node.identity != identity) return;
  if (auto alternate = AlternateIdentity(partition.other, identity)) {
    node.identity = std::move(*alternate);
    effects_.ToDeleteLater(node.identity.uid);
  }
}

void Graph::NoteAbsentFor(const std::vector<Node*>& dependents, const Identity& identity) {
  if (dependents.empty()) return;
  absent_.Add(identity);
  for (const Node* dependent : dependents) effects_.ToDelete(dependent->identity.uid);
}

void Graph::ReportNamespace(const Node& dependent, const std::string& owner_uid) {
  if (const OwnerReference* reference = ReferenceTo(dependent.owners, owner_uid))
    effects_.InvalidNamespace(dependent, *reference);
}

Partition PartitionDependents(const NodesBySerial& dependents, const Identity& identity) {
  Partition partition;
  for (auto& [serial, dependent] : dependents) {
    bool matches = false;
    bool differs = false;
    if (!identity.ns.empty() && identity.ns != dependent->identity.ns) {
      differs = true;  // an owner in a namespace cannot own objects outside it
    } else {
      for (const OwnerReference& reference : dependent->owners) {
        if (reference.uid != identity.uid) continue;
        (PointsTo(reference, identity) ? matches : differs) = true;
      }
    }
    if (matches) partition.matching.push_back(dependent);
    if (differs) partition.other.push_back(dependent);
  }
  return partition;
}

std::optional<Identity> AlternateIdentity(const std::vector<Node*>& dependents, const Identity& absent) {
  std::optional<Identity> first;
  std::optional<Identity> next;
  for (const Node* dependent : dependents) {
    for (const OwnerReference& reference : dependent->owners) {
      if (reference.uid != absent.uid) continue;
      Identity candidate = OwnerIdentity(reference, dependent->identity.ns);
      // `absent` has shown that the kind is cluster-scoped.
      if (absent.ns.empty() && candidate.api_version == absent.api_version && candidate.kind == absent.kind)
        candidate.ns.clear();
      if (candidate == absent) continue;
      if (!first || candidate < *first) first = candidate;
      if (absent < candidate && (!next || candidate < *next)) next = candidate;
    }
  }
  return next ? next : first;
}

}  // namespace terrarium::controllers::garbage_collector
