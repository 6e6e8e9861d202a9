#include "api/apply/ownership.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/apply/listed_fields.h"
#include "api/apply/merge.h"
#include "api/base/check.h"
#include "api/codec/normalize.h"

namespace terrarium::api {
namespace {

// What no client owns: the object's identity and what the server keeps.
const FieldSetPtr& ServerFields() {
  static const FieldSetPtr kFields = [] {
    FieldSetPtr set;
    auto add = [&set](std::initializer_list<std::string_view> names) {
      FieldPath path;
      for (std::string_view name : names) path.push_back(PathElement::Field(name));
      set = Union(set, SetOf(path));
    };
    for (const char* name : {"apiVersion", "kind", "metadata"}) add({name});
    for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName",
                             "generation", "managedFields", "resourceVersion"})
      add({"metadata", name});
    return set;
  }();
  return kFields;
}

bool Serves(const OwnedType& type, const FieldManager& manager, const MemberName& requested) {
  return manager.api_version == requested || (type.serves && type.serves(manager.api_version.text()));
}

// Takes from all managers but `except` what has changed or is gone, and drops those that own nothing any
// more.
void TakeFromManagers(const OwnedType& type, const Comparison& comparison, const MemberName& version,
                      const FieldManager* except, ManagedFields& managed) {
  const FieldSetPtr changed = comparison.Set();
  std::erase_if(managed.entries(), [&](ManagedEntry& entry) {
    if (except != nullptr && entry.manager.IsSame(*except)) return entry.fields == nullptr;
    if (!Serves(type, entry.manager, version)) return true;
    FieldSetPtr left = Difference(Difference(entry.fields, changed), comparison.removed);
    if (left != entry.fields) entry.fields = Intern(left);
    return entry.fields == nullptr;
  });
}

// Folds the oldest updaters of each version into one entry until few enough are left.
void CapUpdateManagers(ManagedFields& managed) {
  std::vector<ManagedEntry>& entries = managed.entries();
  auto is_update = [](const ManagedEntry& entry) { return !entry.manager.applied; };
  std::size_t updaters = static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), is_update));
  if (updaters <= kUpdateManagersMax) return;
  std::vector<ManagedEntry*> oldest;
  for (ManagedEntry& entry : entries)
    if (is_update(entry)) oldest.push_back(&entry);
  auto seconds = [](const ManagedEntry& entry) { return entry.time.value_or(Time()); };
  std::map<const ManagedEntry*, std::string> identifiers;
  for (const ManagedEntry* entry : oldest) identifiers[entry] = entry->manager.Identifier();
  std::sort(oldest.begin(), oldest.end(), [&](const ManagedEntry* a, const ManagedEntry* b) {
    return seconds(*a) != seconds(*b) ? seconds(*a) < seconds(*b) : identifiers[a] < identifiers[b];
  });
  struct Version {
    ManagedEntry* first = nullptr;    // the oldest entry
    ManagedEntry* ancient = nullptr;  // which takes the fields of the others
    std::vector<FieldSetPtr> folded;
  };
  std::map<std::string, Version> versions;
  auto ancient_of = [](const ManagedEntry& entry) {
    return FieldManager{MemberName("ancient-changes"), entry.manager.api_version,
                        MemberName(std::string_view()), /*applied=*/false};
  };
  for (ManagedEntry* entry : oldest)
    if (entry->manager.IsSame(ancient_of(*entry)))
      versions[entry->manager.api_version.text()].ancient = entry;
  for (ManagedEntry* entry : oldest) {
    if (updaters <= kUpdateManagersMax) break;
    Version& version = versions[entry->manager.api_version.text()];
    if (version.first == nullptr) {
      version.first = entry;
      continue;
    }
    if (entry == version.ancient) continue;
    if (version.ancient == nullptr) version.ancient = version.first;
    version.ancient->manager = ancient_of(*entry);
    version.ancient->time = entry->time;  // the younger one
    version.folded.push_back(std::move(entry->fields));
    --updaters;
  }
  for (auto& [name, version] : versions)
    if (!version.folded.empty())
      version.ancient->fields = Intern(Union(UnionOf(std::move(version.folded)), version.ancient->fields));
  std::erase_if(entries, [](const ManagedEntry& entry) { return entry.fields == nullptr; });
}

FieldConflicts ConflictsWith(const FieldManager& applier, const FieldSetPtr& changed,
                             const ManagedFields& managed) {
  std::map<std::string, const ManagedEntry*> by_identifier;
  for (const ManagedEntry& entry : managed.entries())
    if (!entry.manager.IsSame(applier)) by_identifier[entry.manager.Identifier()] = &entry;
  FieldConflicts conflicts;
  for (const auto& [identifier, entry] : by_identifier)
    ForEachPath(Intersection(entry->fields, changed), [&](const FieldPath& path) {
      conflicts.push_back({entry->manager, path});
    });
  return conflicts;
}

// Removes from `merged` what the manager applied last (`last`) and no manager lists or owns any more. Returns
// nullopt on failure.
std::optional<Json> Prune(const ValueType& type, Json merged, const FieldSetPtr& last,
                          const ManagedFields& managed, std::string* error) {
  if (last == nullptr) return merged;
  const FieldSetPtr let_go = WithNamedFields(type, last);
  std::vector<FieldSetPtr> sets;
  for (const ManagedEntry& entry : managed.entries()) sets.push_back(entry.fields);
  const FieldSetPtr owned = UnionOf(std::move(sets));

  auto fields_of = [&](const Json& object) -> std::optional<FieldSetPtr> {
    auto fields = ListedFields(type, object, error);
    if (!fields) return std::nullopt;
    return WithNamedFields(type, *fields);
  };
  const auto all = fields_of(merged);
  if (!all) return std::nullopt;
  // Back comes what has an owner, together with all that contains it.
  auto kept = fields_of(RemoveItems(type, merged, let_go));
  if (!kept) return std::nullopt;
  const FieldSetPtr without_owner = Difference(*all, Union(*kept, WithNamedFields(type, owned)));
  // Back comes also what the manager has never applied.
  kept = fields_of(RemoveItems(type, merged, without_owner));
  if (!kept) return std::nullopt;
  return RemoveItems(type, merged, Intersection(Difference(*all, *kept), let_go));
}

}  // namespace

Json EmptyDocument(const Message& message) {
  Json document = Json::object();
  const auto error = Normalize(message, document, nullptr);
  CHECK(!error.has_value());
  return document;
}

ManagedFields OwnersAfterUpdate(const OwnedType& type, const Comparison& comparison, ManagedFields managed,
                                const FieldManager& manager, Time now) {
  const Comparison counted = Without(comparison, type.reset);
  const FieldSetPtr taken = Difference(counted.Set(), ServerFields());
  // A manager that writes its own fields again keeps its set.
  if (ManagedEntry* own = managed.Find(manager)) {
    const FieldSetPtr fields = Union(Difference(own->fields, counted.removed), taken);
    if (fields != own->fields) own->fields = Intern(fields);
  } else if (taken != nullptr) {
    managed.entries().push_back({manager, {}, Intern(taken)});
  }
  if (taken != nullptr) managed.Find(manager)->time = std::chrono::floor<std::chrono::seconds>(now);
  TakeFromManagers(type, counted, manager.api_version, &manager, managed);
  CapUpdateManagers(managed);
  managed.Sort();
  return managed;
}

std::optional<ManagedFields> OwnersAfterUpdate(const OwnedType& type, const Json& before, const Json& after,
                                               ManagedFields managed, const FieldManager& manager, Time now,
                                               std::string* error) {
  auto comparison = Compare(type.type, before, after, error);
  if (!comparison) return std::nullopt;
  return OwnersAfterUpdate(type, *comparison, std::move(managed), manager, now);
}

Status ConflictStatus(const FieldConflicts& conflicts) {
  Status status;
  status.code = 409;
  status.reason = reason::kConflict;
  status.details.emplace();
  for (const FieldConflict& conflict : conflicts)
    status.details->causes.push_back(
        {"FieldManagerConflict", "conflict with " + conflict.manager.ToString(), PathText(conflict.path)});
  if (conflicts.size() == 1) {
    const StatusCause& cause = status.details->causes[0];
    status.message = "Apply failed with 1 conflict: " + cause.message + ": " + cause.field;
    return status;
  }
  status.message = "Apply failed with " + std::to_string(conflicts.size()) + " conflicts: ";
  for (std::size_t i = 0; i < conflicts.size(); ++i) {
    const FieldManager& manager = conflicts[i].manager;
    if (i == 0 || !conflicts[i - 1].manager.IsSame(manager))
      status.message.append(i == 0 ? "" : "\n").append("conflicts with " + manager.ToString() + ":");
    status.message.append("\n- ").append(status.details->causes[i].field);
  }
  return status;
}

ApplyOutcome ApplyConfiguration(const OwnedType& type, const ApplyRequest& request, ManagedFields managed) {
  std::string error;
  const FieldManager& manager = request.manager;
  if (managed.empty()) {
    FieldManager unknown = manager;
    unknown.name = MemberName(kBeforeFirstApply);
    unknown.applied = false;
    const Json empty = EmptyDocument(*type.type.message());
    auto first = OwnersAfterUpdate(type, empty, request.before, {}, unknown, request.now, &error);
    if (!first) return "failed to create manager for existing fields: " + error;
    managed = std::move(*first);
  }
  auto merged = Merge(type.type, request.before, request.config, &error);
  if (!merged) return "failed to merge config: " + error;
  auto listed = ListedFields(type.type, request.config, &error);
  if (!listed) return "failed to get field set: " + error;

  FieldSetPtr last;
  ManagedEntry* entry = managed.Find(manager);
  if (entry == nullptr) entry = &managed.entries().emplace_back(ManagedEntry{manager, {}, nullptr});
  if (entry->fields != nullptr && Serves(type, entry->manager, manager.api_version)) last = entry->fields;
  entry->manager = manager;
  entry->fields = RecursiveDifference(*listed, type.reset);

  auto pruned = Prune(type.type, std::move(*merged), last, managed, &error);
  if (!pruned) return "failed to prune fields: " + error;
  auto comparison = Compare(type.type, request.before, *pruned, &error);
  if (!comparison) return "failed to compare objects: " + error;
  const Comparison counted = Without(std::move(*comparison), type.reset);
  if (!request.force)
    if (auto conflicts = ConflictsWith(manager, counted.Set(), managed); !conflicts.empty()) return conflicts;
  TakeFromManagers(type, counted, manager.api_version, &manager, managed);

  Applied applied;
  const bool same = *pruned == request.before;
  if (ManagedEntry* mine = managed.Find(manager)) {
    mine->fields = Intern(Difference(mine->fields, ServerFields()));
    if (!same) mine->time = std::chrono::floor<std::chrono::seconds>(request.now);
    if (mine->fields == nullptr)
      managed.entries().erase(managed.entries().begin() + (mine - managed.entries().data()));
  }
  managed.Sort();
  if (!same) applied.object = std::move(*pruned);
  applied.managed = std::move(managed);
  return applied;
}

}  // namespace terrarium::api
