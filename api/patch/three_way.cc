#include "api/patch/three_way.h"

#include <algorithm>
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

bool Has(const Json* object, std::string_view key) { return object != nullptr && Find(*object, key) != nullptr; }

const Json* Member(const Json* object, std::string_view key) { return object == nullptr ? nullptr : Find(*object, key); }

const Json& Items(const Json* list) { return list != nullptr && list->is_array() ? *list : EmptyList(); }

std::string Directive(std::string_view directive, const std::string& field) {
  return std::string(directive) + "/" + field;
}

// The item of a list that has that value of the merge key.
const Json* ItemWith(const Json* list, std::string_view merge_key, const Json& value) {
  for (const Json& item : Items(list))
    if (const Json* found = Find(item, merge_key); found != nullptr && *found == value) return &item;
  return nullptr;
}

bool Contains(const Json* list, const Json& value) {
  const Json& items = Items(list);
  return std::find(items.begin(), items.end(), value) != items.end();
}

// Whether the wanted items that are there stand in another order.
template <typename FindIn>
bool OutOfOrder(const Json& wanted, const Json* current, FindIn find) {
  const Json* last = nullptr;
  for (const Json& item : wanted) {
    const Json* there = find(current, item);
    if (there == nullptr) continue;
    if (last != nullptr && there < last) return true;  // both lie in the one list
    last = there;
  }
  return false;
}

bool EveryItemHas(const Json* list, std::string_view merge_key) {
  const Json& items = Items(list);
  return std::all_of(items.begin(), items.end(), [merge_key](const Json& item) { return Has(&item, merge_key); });
}

void PutMergedObjects(const std::string& name, const States& at, const Field& field, Json& patch) {
  std::string merge_key(field.def.patch_merge_key);
  bool retain_keys = (field.def.patch_strategy & kPatchRetainKeys) != 0;
  Json items = Json::array();
  Json order = Json::array();
  for (const Json& item : Items(at.modified)) {
    const Json& value = *Find(item, merge_key);
    order.push_back({{merge_key, value}});
    const Json* current = ItemWith(at.current, merge_key, value);
    if (current == nullptr) {
      items.push_back(item);
      continue;
    }
    Json changes = ObjectPatch({ItemWith(at.original, merge_key, value), &item, current}, field.message, retain_keys);
    if (changes.empty()) continue;
    changes[merge_key] = value;
    items.push_back(std::move(changes));
  }
  for (const Json& item : Items(at.original)) {
    const Json* value = Find(item, merge_key);
    if (value == nullptr || ItemWith(at.modified, merge_key, *value) != nullptr) continue;
    if (ItemWith(at.current, merge_key, *value) != nullptr)
      items.push_back({{std::string(kDirective), "delete"}, {merge_key, *value}});
  }
  auto find = [&merge_key](const Json* list, const Json& item) { return ItemWith(list, merge_key, item[merge_key]); };
  if (items.empty() && !OutOfOrder(Items(at.modified), at.current, find)) return;
  if (!items.empty()) patch[name] = std::move(items);
  patch[Directive(kSetElementOrder, name)] = std::move(order);
}

void PutMergedScalars(const std::string& name, const States& at, Json& patch) {
  Json added = Json::array();
  Json removed = Json::array();
  for (const Json& value : Items(at.modified))
    if (!Contains(at.current, value)) added.push_back(value);
  for (const Json& value : Items(at.original))
    if (!Contains(at.modified, value) && Contains(at.current, value)) removed.push_back(value);
  auto find = [](const Json* list, const Json& value) {
    const Json& items = Items(list);
    auto it = std::find(items.begin(), items.end(), value);
    return it == items.end() ? nullptr : &*it;
  };
  if (added.empty() && removed.empty() && !OutOfOrder(*at.modified, at.current, find)) return;
  if (!added.empty()) patch[name] = std::move(added);
  if (!removed.empty()) patch[Directive(kDeleteFromPrimitiveList, name)] = std::move(removed);
  patch[Directive(kSetElementOrder, name)] = *at.modified;
}

// REQUIRES: `at.modified` is there.
void PutMember(const std::string& name, const States& at, const Field* field, Json& patch) {
  if (at.current == nullptr) {
    patch[name] = *at.modified;
    return;
  }
  if (*at.modified == *at.current) return;
  if (at.modified->is_object() && at.current->is_object()) {
    bool retain_keys = field != nullptr && (field->def.patch_strategy & kPatchRetainKeys) != 0;
    const Message* schema =
        field != nullptr && field->def.cardinality == Cardinality::kSingle ? field->message : nullptr;
    if (Json changes = ObjectPatch(at, schema, retain_keys); !changes.empty()) patch[name] = std::move(changes);
    return;
  }
  bool merged = field != nullptr && field->def.cardinality == Cardinality::kList &&
                (field->def.patch_strategy & kPatchMerge) != 0 && at.modified->is_array() && at.current->is_array();
  if (merged && field->def.patch_merge_key.empty()) return PutMergedScalars(name, at, patch);
  if (merged && EveryItemHas(at.modified, field->def.patch_merge_key)) return PutMergedObjects(name, at, *field, patch);
  patch[name] = *at.modified;
}

Json ObjectPatch(const States& at, const Message* schema, bool retain_keys) {
  Json patch = Json::object();
  Json kept = Json::array();
  for (auto it = at.modified->begin(); it != at.modified->end(); ++it) {
    const std::string& name = it.key();
    const Json* current = Member(at.current, name);
    if (it->is_null()) {
      if (current != nullptr) patch[name] = nullptr;
      continue;
    }
    kept.push_back(name);
    PutMember(name, {Member(at.original, name), &*it, current}, schema == nullptr ? nullptr : schema->Find(name), patch);
  }
  const Json& original = at.original == nullptr ? EmptyObject() : *at.original;
  for (auto it = original.begin(); it != original.end(); ++it)
    if (!at.modified->contains(it.key()) && Has(at.current, it.key())) patch[it.key()] = nullptr;
  if (retain_keys && !patch.empty()) patch[std::string(kRetainKeys)] = std::move(kept);
  return patch;
}

}  // namespace

Json ThreeWayPatch(const AppliedStates& states, const Message& schema) {
  return ObjectPatch({&states.original, &states.modified, &states.current}, &schema, false);
}

}  // namespace terrarium::api
