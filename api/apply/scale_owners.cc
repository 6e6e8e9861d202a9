#include "api/apply/scale_owners.h"

#include <utility>

namespace terrarium::api {
namespace {

const FieldPath& ReplicasOfScale() {
  static const FieldPath kPath = {PathElement::Field("spec"), PathElement::Field("replicas")};
  return kPath;
}

}  // namespace

ManagedFields OwnersOfScale(const ManagedFields& object, const FieldPath& replicas) {
  ManagedFields scale;
  for (const ManagedEntry& entry : object.entries()) {
    if (!Has(entry.fields, replicas)) continue;
    ManagedEntry seen = entry;
    seen.manager.api_version = MemberName(kScaleApiVersion);
    seen.fields = Intern(SetOf(ReplicasOfScale()));
    scale.entries().push_back(std::move(seen));
  }
  scale.Sort();
  return scale;
}

ManagedFields OwnersFromScale(const ManagedFields& object, const ManagedFields& scale,
                              const FieldPath& replicas, const MemberName& api_version) {
  const FieldSetPtr field = Intern(SetOf(replicas));
  // The manager of an entry as it is in the object, where its version is the object's.
  auto owner_in = [](const ManagedFields& managed, FieldManager manager, const MemberName& version) {
    manager.api_version = version;
    return managed.Find(manager);
  };
  ManagedFields out;
  for (const ManagedEntry& entry : object.entries()) {
    const bool lost = Has(entry.fields, replicas) &&
                      owner_in(scale, entry.manager, MemberName(kScaleApiVersion)) == nullptr;
    ManagedEntry kept = entry;
    if (lost) kept.fields = Intern(Difference(entry.fields, field));
    if (kept.fields != nullptr) out.entries().push_back(std::move(kept));
  }
  for (const ManagedEntry& entry : scale.entries()) {
    if (!Has(entry.fields, ReplicasOfScale())) continue;
    const ManagedEntry* kept = owner_in(out, entry.manager, api_version);
    if (kept != nullptr && Has(kept->fields, replicas)) continue;
    ManagedEntry added{entry.manager, {}, field};
    added.manager.api_version = api_version;
    out.entries().push_back(std::move(added));
  }
  out.Sort();
  return out;
}

}  // namespace terrarium::api
