#pragma once

// The fields of an object that the collector needs. The collector observes every object of the cluster, most
// of them without owners and finalizers. It therefore finds these fields in the text instead of parsing the
// document.

#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::garbage_collector {

// The finalizers that select orphan and foreground deletion.
inline constexpr std::string_view kOrphanFinalizer = "orphan";
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

// The raw lists in an object's metadata; empty when absent.
struct MetadataText {
  std::string_view finalizers;
  std::string_view owner_references;
};
// `body`: of an api::Object.
MetadataText FindMetadata(std::string_view body);

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
// True when an update does not concern the collector: the owners, finalizers and deletion marks are the same.
bool SameOwnership(const api::Object& before, const api::Object& after);

bool SameReference(const OwnerReference& a, const OwnerReference& b);
bool SameReferences(const std::vector<OwnerReference>& a, const std::vector<OwnerReference>& b);

}  // namespace terrarium::controllers::garbage_collector
