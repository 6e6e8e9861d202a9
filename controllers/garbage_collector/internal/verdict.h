#pragma once

// The decision about an object whose owners have been looked up. Pure.

#include <string_view>
#include <vector>

#include "controllers/garbage_collector/internal/ownership.h"

namespace terrarium::controllers::garbage_collector {

// An object's references, by the state of their owners in the apiserver.
struct ClassifiedReferences {
  std::vector<OwnerReference> solid;     // the owner exists
  std::vector<OwnerReference> dangling;  // the owner does not exist
  std::vector<OwnerReference> waiting;  // the owner is deleted in the foreground and waits for its dependents
};

enum class Verdict {
  kKeep,
  kDropReferences,  // an owner exists: remove the other references, so that no waiting owner is blocked by it
  kDeleteInForeground,  // its owner waits for it, and it must wait for its own dependents
  kDelete,
};

inline Verdict Judge(const ClassifiedReferences& references, bool has_dependents) {
  bool all_solid = references.dangling.empty() && references.waiting.empty();
  if (!references.solid.empty()) return all_solid ? Verdict::kKeep : Verdict::kDropReferences;
  if (!references.waiting.empty() && has_dependents) return Verdict::kDeleteInForeground;
  return Verdict::kDelete;
}

// The propagation policy of a kDelete: a finalizer that a client has set keeps its meaning.
inline std::string_view PropagationOf(const DeletionMarks& marks) {
  if (marks.orphan) return "Orphan";
  return marks.foreground ? "Foreground" : "Background";
}

}  // namespace terrarium::controllers::garbage_collector
