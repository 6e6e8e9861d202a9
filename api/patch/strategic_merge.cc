#include "api/patch/strategic_merge.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/base/field_error.h"
#include "api/patch/internal/member_changes.h"
#include "api/patch/internal/patch_words.h"
#include "api/patch/internal/strategic.h"

namespace terrarium::api {
namespace strategic {
namespace {

// Without recursion: a document may be thousands of levels deep.
std::size_t CountValues(const Json& document) {
  std::vector<const Json*> open = {&document};
  std::size_t count = 0;
  while (!open.empty()) {
    const Json& value = *open.back();
    open.pop_back();
    ++count;
    if (value.is_structured())
      for (const Json& inner : value) open.push_back(&inner);
  }
  return count;
}

ListRule RuleFor(const Field* field) {
  if (field == nullptr) return {};
  return {(field->def.patch_strategy & kPatchMerge) != 0, field->def.patch_merge_key, field->message};
}

// The rule of a list that a $setElementOrder names: here the schema must know the field.
Result<ListRule> RuleForOrder(const Message* schema, std::string_view name) {
  if (schema == nullptr) return ListRule{};
  const Field* field = schema->Find(name);
  if (field == nullptr) {
    return GenericServerError("unable to find api field in struct " + std::string(schema->short_name()) +
                              " for the json field " + Quote(name));
  }
  if (field->def.cardinality != Cardinality::kList)
    return GenericServerError("expected slice or array type, but got: struct");
  return RuleFor(field);
}

// "$setElementOrder/containers" -> "containers"; empty when the key has another form.
std::string_view FieldOfDirective(std::string_view key, std::string_view prefix) {
  if (key.size() <= prefix.size() || key[prefix.size()] != '/') return {};
  return key.substr(prefix.size() + 1);
}

Failure ApplyDirective(Json& target, Json& patch) {
  Json directive = patch[kDirective];
  if (directive == "replace") {
    patch.erase(kDirective);
    target = std::move(patch);
    return std::nullopt;
  }
  if (directive == "delete") {
    target = Json::object();
    return std::nullopt;
  }
  return UnknownDirective(directive, patch);
}

Failure ApplyRetainKeys(Json& target, Json& patch) {
  auto it = patch.find(kRetainKeys);
  if (it == patch.end()) return std::nullopt;
  const Status bad = BadRequest("invalid patch format of retainKeys");
  Json keys = std::move(*it);
  patch.erase(it);
  if (!keys.is_array()) return bad;
  std::set<std::string> retained;
  for (const Json& key : keys)
    if (key.is_string()) retained.insert(key.get<std::string>());

  for (const auto& [key, value] : patch.items()) {
    bool directive = key.starts_with(kDeleteFromPrimitiveList) || key.starts_with(kSetElementOrder);
    if (!value.is_null() && !directive && !retained.contains(key)) return bad;
  }
  target.get_ref<Json::object_t&>().EraseIf(
      [&](const auto& member) { return !retained.contains(member.first.text()); });
  return std::nullopt;
}

Failure ApplyElementOrders(Json& target, Json& patch, const Message* schema, WorkLimit& limit) {
  std::vector<std::string> directives;
  for (const auto& [key, value] : patch.get_ref<const Json::object_t&>())
    if (key.text().starts_with(kSetElementOrder)) directives.push_back(key);
  if (directives.empty()) return std::nullopt;

  MemberChanges target_changes(target);
  MemberChanges patch_changes(patch);
  for (const std::string& key : directives) {
    Json* given = patch_changes.Find(key);
    Json order = given == nullptr ? Json() : std::move(*given);
    patch_changes.Erase(key);
    if (!order.is_array()) return BadArgument("[]interface {}", order);
    std::string name(FieldOfDirective(key, kSetElementOrder));
    if (name.empty()) return BadRequest("invalid patch format of setElementOrder list");

    Json* old = target_changes.Find(name);
    Json* items = patch_changes.Find(name);
    if (old != nullptr && !old->is_array()) return BadArgument("[]interface {}", *old);
    if (items != nullptr && !items->is_array()) return BadArgument("[]interface {}", *items);
    Result<ListRule> rule = RuleForOrder(schema, name);
    if (!rule) return rule.status();

    Json list = old == nullptr ? Json() : std::move(*old);
    Json patch_list = items == nullptr ? Json() : std::move(*items);
    patch_changes.Erase(name);
    if (Failure failure = MergeListInOrder(list, patch_list, order, *rule, limit)) return failure;
    if (!list.is_null()) target_changes.Set(name, std::move(list));
  }
  patch_changes.Apply();
  return limit.Spend(target_changes.Apply());
}

void DiscardNulls(Json& value) {
  if (value.is_object())
    value.get_ref<Json::object_t&>().EraseIf([](const auto& member) { return member.second.is_null(); });
  if (value.is_structured())
    for (Json& below : value) DiscardNulls(below);
}

Failure MergeField(MemberChanges& target, const std::string& key, Json& value, const Message* schema,
                   WorkLimit& limit) {
  const bool is_delete_list = key.starts_with(kDeleteFromPrimitiveList);
  std::string name = is_delete_list ? std::string(FieldOfDirective(key, kDeleteFromPrimitiveList)) : key;
  if (name.empty() && is_delete_list) return BadRequest("invalid patch format of primitive list");

  if (value.is_null()) {
    target.Erase(name);
    return std::nullopt;
  }
  Json* old = target.Find(name);
  if (is_delete_list) {
    if (old == nullptr || !old->is_array() || !value.is_array()) return std::nullopt;
    return RemoveScalars(*old, value, limit);
  }

  const Field* field = schema == nullptr ? nullptr : schema->FindKey(key);
  if (old != nullptr && old->is_object() && value.is_object()) {
    if (field != nullptr && (field->def.patch_strategy & kPatchReplace) != 0) {
      *old = std::move(value);
      return std::nullopt;
    }
    const bool is_struct = field != nullptr && field->def.cardinality == Cardinality::kSingle;
    return MergeObject(*old, value, is_struct ? field->message : nullptr, limit);
  }
  if (old != nullptr && old->is_array() && value.is_array())
    return MergeList(*old, value, RuleFor(field), limit);

  DiscardNulls(value);
  if (StripDirectives(value))
    target.Set(name, std::move(value));
  else
    target.Erase(name);
  return std::nullopt;
}

}  // namespace

bool StripDirectives(Json& value) {
  if (value.is_object()) {
    if (value.contains(kDirective)) return false;
    value.get_ref<Json::object_t&>().EraseIf([](auto& member) { return !StripDirectives(member.second); });
  } else if (value.is_array()) {
    Json kept = Json::array();
    for (Json& item : value)
      if (StripDirectives(item)) kept.push_back(std::move(item));
    value = std::move(kept);
  }
  return true;
}

Status BadArgument(std::string_view expected_go_type, const Json& actual) {
  return GenericServerError("expected a " + std::string(expected_go_type) + ", but received a " +
                            GoType(actual));
}

Status NoMergeKey(const Json& item, std::string_view merge_key) {
  return GenericServerError("map: " + GoValue(item) +
                            " does not contain declared merge key: " + std::string(merge_key));
}

Status UnknownDirective(const Json& directive, const Json& object) {
  std::string type = GoValue(directive);
  if (directive.is_null()) type = "%!s(<nil>)";
  if (directive.is_boolean() || directive.is_number()) type = "%!s(" + GoType(directive) + "=" + type + ")";
  return GenericServerError("unknown patch type: " + type + " in map: " + GoValue(object));
}

WorkLimit WorkLimit::For(const Json& document, const Json& patch) {
  // The number allows a small patch to repeat itself.
  return WorkLimit(10'000 + 4 * (CountValues(document) + CountValues(patch)));
}

Failure WorkLimit::Spend(std::size_t work) {
  left_ -= std::min(left_, work);
  if (left_ > 0) return std::nullopt;
  return RequestTooLarge("the patch names the same items of a list too often");
}

Failure MergeObject(Json& target, Json& patch, const Message* schema, WorkLimit& limit) {
  if (patch.contains(kDirective)) return ApplyDirective(target, patch);
  if (Failure failure = ApplyRetainKeys(target, patch)) return failure;
  if (Failure failure = ApplyElementOrders(target, patch, schema, limit)) return failure;
  // Keys come sorted, so what leaves a list of scalars ("$delete...") goes before what enters it.
  MemberChanges changes(target);
  for (auto it = patch.begin(); it != patch.end(); ++it)
    if (Failure failure = MergeField(changes, it.key(), *it, schema, limit)) return failure;
  return limit.Spend(changes.Apply());
}

}  // namespace strategic

Result<Json> ApplyStrategicMergePatch(Json document, Json patch, const Message& schema) {
  CHECK(document.is_object());
  if (patch.is_null()) return document;
  if (!patch.is_object()) return BadRequest(CannotUnmarshal(patch, "value of type map[string]interface {}"));
  strategic::WorkLimit limit = strategic::WorkLimit::For(document, patch);
  if (strategic::Failure failure = strategic::MergeObject(document, patch, &schema, limit))
    return *std::move(failure);
  return document;
}

}  // namespace terrarium::api
