#include "api/patch/three_way.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_access.h"
#include "api/patch/internal/strategic.h"

namespace terrarium::api {
namespace {

using strategic::kDeleteFromPrimitiveList;
using strategic::kDirective;
using strategic::kRetainKeys;
using strategic::kSetElementOrder;

// One value in its three states. nullptr: it is not there.
struct States {
  const Json* original;
  const Json* modified;
  const Json* current;
};

Json ObjectPatch(const States& at, const Message* schema, bool retain_keys);

bool Has(const Json* object, std::string_view key) {
  return object != nullptr && Find(*object, key) != nullptr;
}

const Json* Member(const Json* object, std::string_view key) {
  return object == nullptr ? nullptr : Find(*object, key);
}

const Json& Items(const Json* list) { return list != nullptr && list->is_array() ? *list : EmptyList(); }

std::string Directive(std::string_view directive, const std::string& field) {
  return std::string(directive) + "/" + field;
}

// The first item of a list by what identifies it: its merge key's value or, without a merge key, the scalar
// itself.
class ItemIndex {
 public:
  ItemIndex(const Json* list, std::string_view merge_key) {
    for (const Json& item : Items(list))
      if (const Json* key = merge_key.empty() ? &item : Find(item, merge_key)) items_.emplace(key, &item);
  }
  // nullptr: there is none.
  const Json* With(const Json& key) const {
    auto it = items_.find(&key);
    return it == items_.end() ? nullptr : it->second;
  }

 private:
  struct Less {
    bool operator()(const Json* a, const Json* b) const { return *a < *b; }
  };
  std::map<const Json*, const Json*, Less> items_;
};

// Whether the wanted items that are there stand in another order.
bool OutOfOrder(const Json& wanted, std::string_view merge_key, const ItemIndex& current) {
  const Json* last = nullptr;
  for (const Json& item : wanted) {
    const Json* there = current.With(merge_key.empty() ? item : *Find(item, merge_key));
    if (there == nullptr) continue;
    if (last != nullptr && there < last) return true;  // both lie in the one list
    last = there;
  }
  return false;
}

bool EveryItemHas(const Json* list, std::string_view merge_key) {
  const Json& items = Items(list);
  return std::all_of(items.begin(), items.end(),
                     [merge_key](const Json& item) { return Has(&item, merge_key); });
}

void PutMergedObjects(const std::string& name, const States& at, const Field& field, Json::object_t& patch) {
  const std::string merge_key(field.def.patch_merge_key);
  const bool retain_keys = (field.def.patch_strategy & kPatchRetainKeys) != 0;
  const ItemIndex originals(at.original, merge_key), wanted(at.modified, merge_key),
      currents(at.current, merge_key);
  Json items = Json::array();
  Json order = Json::array();
  for (const Json& item : Items(at.modified)) {
    const Json& value = *Find(item, merge_key);
    order.push_back({{merge_key, value}});
    const Json* current = currents.With(value);
    if (current == nullptr) {
      items.push_back(item);
      continue;
    }
    Json changes = ObjectPatch({originals.With(value), &item, current}, field.message, retain_keys);
    if (changes.empty()) continue;
    changes[merge_key] = value;
    items.push_back(std::move(changes));
  }
  for (const Json& item : Items(at.original)) {
    const Json* value = Find(item, merge_key);
    if (value == nullptr || wanted.With(*value) != nullptr) continue;
    if (currents.With(*value) != nullptr)
      items.push_back({{std::string(kDirective), "delete"}, {merge_key, *value}});
  }
  if (items.empty() && !OutOfOrder(Items(at.modified), merge_key, currents)) return;
  if (!items.empty()) patch.AppendUnsorted(name) = std::move(items);
  patch.AppendUnsorted(Directive(kSetElementOrder, name)) = std::move(order);
}

void PutMergedScalars(const std::string& name, const States& at, Json::object_t& patch) {
  const ItemIndex wanted(at.modified, {}), currents(at.current, {});
  Json added = Json::array();
  Json removed = Json::array();
  for (const Json& value : Items(at.modified))
    if (currents.With(value) == nullptr) added.push_back(value);
  for (const Json& value : Items(at.original))
    if (wanted.With(value) == nullptr && currents.With(value) != nullptr) removed.push_back(value);
  if (added.empty() && removed.empty() && !OutOfOrder(*at.modified, {}, currents)) return;
  if (!added.empty()) patch.AppendUnsorted(name) = std::move(added);
  if (!removed.empty()) patch.AppendUnsorted(Directive(kDeleteFromPrimitiveList, name)) = std::move(removed);
  patch.AppendUnsorted(Directive(kSetElementOrder, name)) = *at.modified;
}

// REQUIRES: `at.modified` is there.
void PutMember(const std::string& name, const States& at, const Field* field, Json::object_t& patch) {
  if (at.current == nullptr) {
    patch.AppendUnsorted(name) = *at.modified;
    return;
  }
  // Objects are not compared as a whole first, because that would compare each level of a deep document again
  // and again.
  if (at.modified->is_object() && at.current->is_object()) {
    bool retain_keys = field != nullptr && (field->def.patch_strategy & kPatchRetainKeys) != 0;
    const Message* schema =
        field != nullptr && field->def.cardinality == Cardinality::kSingle ? field->message : nullptr;
    if (Json changes = ObjectPatch(at, schema, retain_keys); !changes.empty())
      patch.AppendUnsorted(name) = std::move(changes);
    return;
  }
  if (*at.modified == *at.current) return;
  bool merged = field != nullptr && field->def.cardinality == Cardinality::kList &&
                (field->def.patch_strategy & kPatchMerge) != 0 && at.modified->is_array() &&
                at.current->is_array();
  if (merged && field->def.patch_merge_key.empty()) return PutMergedScalars(name, at, patch);
  if (merged && EveryItemHas(at.modified, field->def.patch_merge_key))
    return PutMergedObjects(name, at, *field, patch);
  patch.AppendUnsorted(name) = *at.modified;
}

Json ObjectPatch(const States& at, const Message* schema, bool retain_keys) {
  Json::object_t patch;
  Json kept = Json::array();
  for (auto it = at.modified->begin(); it != at.modified->end(); ++it) {
    const std::string& name = it.key();
    const Json* current = Member(at.current, name);
    if (it->is_null()) {
      if (current != nullptr) patch.AppendUnsorted(name);
      continue;
    }
    kept.push_back(name);
    PutMember(name, {Member(at.original, name), &*it, current},
              schema == nullptr ? nullptr : schema->Find(name), patch);
  }
  const Json& original = at.original == nullptr ? EmptyObject() : *at.original;
  for (auto it = original.begin(); it != original.end(); ++it)
    if (!at.modified->contains(it.key()) && Has(at.current, it.key())) patch.AppendUnsorted(it.key());
  if (retain_keys && !patch.empty()) patch.AppendUnsorted(kRetainKeys) = std::move(kept);
  patch.SortMembers();
  return Json(std::move(patch));
}

}  // namespace

Json ThreeWayPatch(const AppliedStates& states, const Message& schema) {
  return ObjectPatch({&states.original, &states.modified, &states.current}, &schema, false);
}

}  // namespace terrarium::api
