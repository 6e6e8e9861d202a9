#include "controllers/garbage_collector/internal/ownership.h"

#include <algorithm>
#include <tuple>

#include "api/json.h"
#include "api/json_text.h"

namespace terrarium::controllers::garbage_collector {

MetadataText FindMetadata(std::string_view body) {
  const std::string_view metadata = api::FindMember(body, "metadata");
  return {api::FindMember(metadata, "finalizers"), api::FindMember(metadata, "ownerReferences")};
}

DeletionMarks DeletionMarksOf(const api::Object& object) {
  const std::vector<std::string> finalizers = api::FinalizersOf(object);
  auto has = [&](std::string_view name) {
    return std::find(finalizers.begin(), finalizers.end(), name) != finalizers.end();
  };
  return {object.header().deleting, has(kOrphanFinalizer), has(kForegroundFinalizer)};
}

Ownership OwnershipOf(const api::Object& object) {
  Ownership ownership{{}, DeletionMarksOf(object)};
  const std::string_view references = FindMetadata(object.body()).owner_references;
  if (!references.empty()) {
    api::Json document;
    document["metadata"]["ownerReferences"] = api::ReadJson(references);
    ownership.owners = OwnerReferencesOf(document);
  }
  return ownership;
}

bool SameOwnership(const api::Object& before, const api::Object& after) {
  if (before.header().deleting != after.header().deleting) return false;
  MetadataText a = FindMetadata(before.body());
  MetadataText b = FindMetadata(after.body());
  return a.finalizers == b.finalizers && a.owner_references == b.owner_references;
}

bool SameReference(const OwnerReference& a, const OwnerReference& b) {
  auto all = [](const OwnerReference& r) {
    return std::tie(r.uid, r.name, r.kind, r.api_version, r.controller, r.block_owner_deletion);
  };
  return all(a) == all(b);
}

bool SameReferences(const std::vector<OwnerReference>& a, const std::vector<OwnerReference>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameReference);
}

}  // namespace terrarium::controllers::garbage_collector
