#include "api/apply/scale_owners.h"

#include <set>
#include <string>
#include <utility>

namespace terrarium::api {
namespace {

const FieldPath& ReplicasOfScale() {
  static const FieldPath kPath = {PathElement::Field("spec"), PathElement::Field("replicas")};
  return kPath;
}

// The manager as an identifier in one version, whichever one its entry has.
std::string IdentifierIn(FieldManager manager, const MemberName& version) {
  manager.api_version = version;
  return manager.Identifier();
}

// The managers that have entries in `version`.
std::set<std::string> ManagersIn(const ManagedFields& managed, const MemberName& version) {
  std::set<std::string> managers;
  for (const ManagedEntry& entry : managed.entries())
    if (entry.manager.applied || entry.manager.api_version == version)
      managers.insert(entry.manager.Identifier());
  return managers;
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
  const MemberName scale_version(kScaleApiVersion);
  const std::set<std::string> in_scale = ManagersIn(scale, scale_version);
  ManagedFields out;
  std::set<std::string> have_field;
  for (const ManagedEntry& entry : object.entries()) {
    ManagedEntry kept = entry;
    if (Has(entry.fields, replicas)) {
      if (!in_scale.contains(IdentifierIn(entry.manager, scale_version)))
        kept.fields = Intern(Difference(entry.fields, field));
      else if (entry.manager.applied || entry.manager.api_version == api_version)
        have_field.insert(entry.manager.Identifier());
    }
    if (kept.fields != nullptr) out.entries().push_back(std::move(kept));
  }
  for (const ManagedEntry& entry : scale.entries()) {
    if (!Has(entry.fields, ReplicasOfScale())) continue;
    if (have_field.contains(IdentifierIn(entry.manager, api_version))) continue;
    ManagedEntry added{entry.manager, {}, field};
    added.manager.api_version = api_version;
    out.entries().push_back(std::move(added));
  }
  out.Sort();
  return out;
}

}  // namespace terrarium::api
