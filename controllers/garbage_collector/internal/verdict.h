#pragma once

// What becomes of an object whose owners have been looked up. Pure.

#include <string_view>
#include <vector>

#include "controllers/garbage_collector/internal/ownership.h"

namespace terrarium::controllers::garbage_collector {

// An object's references, by what the apiserver says of their owners.
struct ClassifiedReferences {
  std::vector<OwnerReference> solid;     // it exists
  std::vector<OwnerReference> dangling;  // it does not
  std::vector<OwnerReference> waiting;   // it is deleted in the foreground and waits for its dependents
};

enum class Verdict {
  kKeep,
  kDropReferences,       // some owner holds it: the references to the others go, so that nobody waits for it
  kDeleteInForeground,   // its owner waits, and so must it for its own dependents
  kDelete,
};

inline Verdict Judge(const ClassifiedReferences& references, bool has_dependents) {
  bool all_solid = references.dangling.empty() && references.waiting.empty();
  if (!references.solid.empty()) return all_solid ? Verdict::kKeep : Verdict::kDropReferences;
  if (!references.waiting.empty() && has_dependents) return Verdict::kDeleteInForeground;
  return Verdict::kDelete;
}

// The policy of a kDelete: what somebody asked for before by a finalizer is honoured.
inline std::string_view PropagationOf(const DeletionMarks& marks) {
  if (marks.orphan) return "Orphan";
  return marks.foreground ? "Foreground" : "Background";
}

}  // namespace terrarium::controllers::garbage_collector
