#include "api/patch/strategic_merge.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/base/field_error.h"
#include "api/patch/internal/patch_words.h"
#include "api/patch/internal/strategic.h"

namespace terrarium::api {
namespace strategic {
namespace {

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
  for (auto member = target.begin(); member != target.end();)
    member = retained.contains(member.key()) ? std::next(member) : target.erase(member);
  return std::nullopt;
}

Failure ApplyElementOrders(Json& target, Json& patch, const Message* schema) {
  std::vector<std::string> directives;
  for (const auto& [key, value] : patch.items())
    if (key.starts_with(kSetElementOrder)) directives.push_back(key);

  for (const std::string& key : directives) {
    Json order = std::move(patch[key]);
    patch.erase(key);
    if (!order.is_array()) return BadArgument("[]interface {}", order);
    std::string name(FieldOfDirective(key, kSetElementOrder));
    if (name.empty()) return BadRequest("invalid patch format of setElementOrder list");

    auto old = target.find(name);
    auto items = patch.find(name);
    if (old != target.end() && !old->is_array()) return BadArgument("[]interface {}", *old);
    if (items != patch.end() && !items->is_array()) return BadArgument("[]interface {}", *items);
    Result<ListRule> rule = RuleForOrder(schema, name);
    if (!rule) return rule.status();

    Json list = old == target.end() ? Json() : std::move(*old);
    Json patch_list = items == patch.end() ? Json() : std::move(*items);
    patch.erase(name);
    if (Failure failure = MergeListInOrder(list, patch_list, order, *rule)) return failure;
    if (!list.is_null()) target[name] = std::move(list);
  }
  return std::nullopt;
}

void DiscardNulls(Json& value) {
  if (value.is_object()) {
    for (auto it = value.begin(); it != value.end();) {
      if (it->is_null()) {
        it = value.erase(it);
      } else {
        DiscardNulls(*it);
        ++it;
      }
    }
  } else if (value.is_array()) {
    for (Json& item : value) DiscardNulls(item);
  }
}

Failure MergeField(Json& target, const std::string& key, Json& value, const Message* schema) {
  const bool is_delete_list = key.starts_with(kDeleteFromPrimitiveList);
  std::string name = is_delete_list ? std::string(FieldOfDirective(key, kDeleteFromPrimitiveList)) : key;
  if (name.empty() && is_delete_list) return BadRequest("invalid patch format of primitive list");

  if (value.is_null()) {
    target.erase(name);
    return std::nullopt;
  }
  auto old = target.find(name);
  if (is_delete_list) {
    if (old == target.end() || !old->is_array() || !value.is_array()) return std::nullopt;
    return RemoveScalars(*old, value);
  }

  const Field* field = schema == nullptr ? nullptr : schema->FindKey(is_delete_list ? name : key);
  if (old != target.end() && old->is_object() && value.is_object()) {
    if (field != nullptr && (field->def.patch_strategy & kPatchReplace) != 0) {
      *old = std::move(value);
      return std::nullopt;
    }
    const bool is_struct = field != nullptr && field->def.cardinality == Cardinality::kSingle;
    return MergeObject(*old, value, is_struct ? field->message : nullptr);
  }
  if (old != target.end() && old->is_array() && value.is_array()) return MergeList(*old, value, RuleFor(field));

  DiscardNulls(value);
  if (StripDirectives(value))
    target[name] = std::move(value);
  else
    target.erase(name);
  return std::nullopt;
}

}  // namespace

bool StripDirectives(Json& value) {
  if (value.is_object()) {
    if (value.contains(kDirective)) return false;
    for (auto it = value.begin(); it != value.end();) it = StripDirectives(*it) ? std::next(it) : value.erase(it);
  } else if (value.is_array()) {
    Json kept = Json::array();
    for (Json& item : value)
      if (StripDirectives(item)) kept.push_back(std::move(item));
    value = std::move(kept);
  }
  return true;
}

Status BadArgument(std::string_view expected_go_type, const Json& actual) {
  return GenericServerError("expected a " + std::string(expected_go_type) + ", but received a " + GoType(actual));
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

Failure MergeObject(Json& target, Json& patch, const Message* schema) {
  if (patch.contains(kDirective)) return ApplyDirective(target, patch);
  if (Failure failure = ApplyRetainKeys(target, patch)) return failure;
  if (Failure failure = ApplyElementOrders(target, patch, schema)) return failure;
  // Keys come sorted, so what leaves a list of scalars ("$delete...") goes before what enters it.
  for (auto it = patch.begin(); it != patch.end(); ++it)
    if (Failure failure = MergeField(target, it.key(), *it, schema)) return failure;
  return std::nullopt;
}

}  // namespace strategic

Result<Json> ApplyStrategicMergePatch(Json document, Json patch, const Message& schema) {
  CHECK(document.is_object());
  if (patch.is_null()) return document;
  if (!patch.is_object()) return BadRequest(CannotUnmarshal(patch, "value of type map[string]interface {}"));
  if (strategic::Failure failure = strategic::MergeObject(document, patch, &schema)) return *std::move(failure);
  return document;
}

}  // namespace terrarium::api
