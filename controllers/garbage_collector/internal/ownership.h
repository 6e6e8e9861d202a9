#pragma once

// What the collector needs to know of an object. It sees every object of the plane go by, most of them without owners
// and finalizers, and so it reads these few fields from the text instead of having the document parsed.

#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::garbage_collector {

// How the finalizers say that an object goes.
inline constexpr std::string_view kOrphanFinalizer = "orphan";
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

// The raw lists in an object's metadata; empty when absent.
struct MetadataText {
  std::string_view finalizers;
  std::string_view owner_references;
};
// REQUIRES: `body` is an Object's body, which begins with its metadata.
MetadataText ScanMetadata(std::string_view body);

struct DeletionMarks {
  bool deleting = false;
  bool orphan = false;      // has the finalizer "orphan"
  bool foreground = false;  // has the finalizer "foregroundDeletion"
};
DeletionMarks DeletionMarksOf(const api::Object& object);

struct Ownership {
  std::vector<OwnerReference> owners;
  DeletionMarks marks;
};
Ownership OwnershipOf(const api::Object& object);
// True when an update is nothing to the collector: the same owners, finalizers and deletion.
bool SameOwnership(const api::Object& before, const api::Object& after);

std::vector<std::string> FinalizersOf(const api::Object& object);

bool SameReference(const OwnerReference& a, const OwnerReference& b);
bool SameReferences(const std::vector<OwnerReference>& a, const std::vector<OwnerReference>& b);

}  // namespace terrarium::controllers::garbage_collector
