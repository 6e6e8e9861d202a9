#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "api/patch/internal/patch_words.h"
#include "api/patch/internal/strategic.h"

namespace terrarium::api::strategic {
namespace {

// The value that identifies an item: that of its merge key, or the scalar itself. REQUIRES: CheckKeys
// reported no failure.
const Json& KeyOf(const Json& item, std::string_view merge_key) {
  return merge_key.empty() ? item : *item.find(merge_key);
}

Failure CheckKeys(const Json& list, std::string_view merge_key) {
  for (const Json& item : list) {
    if (!item.is_object()) return BadArgument("map[string]interface {}", item);
    if (!item.contains(merge_key)) return NoMergeKey(item, merge_key);
  }
  return std::nullopt;
}

// Checks that all items of both lists have the same type, which is neither list nor null. REQUIRES: one of
// the lists has an item.
Failure CheckElements(const Json& a, const Json& b) {
  const Json& first = a.empty() ? b[0] : a[0];
  if (first.is_array()) return RejectedPatch();
  for (const Json* list : {&a, &b}) {
    for (const Json& item : *list) {
      if (item.is_null() || GoType(item) != GoType(first))
        return GenericServerError("list element types are not identical: " + GoValue(Json::array({a, b})));
    }
  }
  return std::nullopt;
}

Status NoKeyDeclared(const ListRule& rule) {
  return GenericServerError(std::string("cannot merge lists without merge key for ") +
                            (rule.message == nullptr ? "string" : "struct"));
}

// The first position of each key in a list.
class Ranks {
 public:
  Ranks(const Json& list, std::string_view merge_key) {
    std::size_t i = 0;
    for (const Json& item : list) ranks_.emplace(KeyOf(item, merge_key), i++);
  }
  bool Has(const Json& key) const { return ranks_.contains(key); }
  // Unknown keys rank last.
  std::size_t Of(const Json& key) const {
    auto it = ranks_.find(key);
    return it == ranks_.end() ? std::numeric_limits<std::size_t>::max() : it->second;
  }

 private:
  std::map<Json, std::size_t> ranks_;
};

// Orders a merged list: see strategic_merge.h.
Json InOrder(Json merged, const Ranks& patch, const Ranks& server, std::string_view merge_key) {
  std::vector<Json> from_patch;
  std::vector<Json> server_only;
  for (Json& item : merged) {
    auto& part = patch.Has(KeyOf(item, merge_key)) ? from_patch : server_only;
    part.push_back(std::move(item));
  }
  auto by = [&](const Ranks& ranks) {
    return [&](const Json& a, const Json& b) {
      return ranks.Of(KeyOf(a, merge_key)) < ranks.Of(KeyOf(b, merge_key));
    };
  };
  std::stable_sort(from_patch.begin(), from_patch.end(), by(patch));
  std::stable_sort(server_only.begin(), server_only.end(), by(server));

  Json out = Json::array();
  auto next = server_only.begin();
  for (Json& item : from_patch) {
    const Json& key = KeyOf(item, merge_key);
    while (next != server_only.end() && server.Has(key) && server.Has(KeyOf(*next, merge_key)) &&
           server.Of(KeyOf(*next, merge_key)) < server.Of(key))
      out.push_back(std::move(*next++));
    out.push_back(std::move(item));
  }
  for (; next != server_only.end(); ++next) out.push_back(std::move(*next));
  return out;
}

Failure MergeScalars(Json& target, const Json& patch) {
  Json merged = Json::array();
  std::set<Json> seen;
  for (const Json* list : {&std::as_const(target), &patch})
    for (const Json& item : *list)
      if (seen.insert(item).second) merged.push_back(item);
  target = InOrder(std::move(merged), Ranks(patch, {}), Ranks(target, {}), {});
  return std::nullopt;
}

// Removes the items with a directive from `patch` and applies the directives to `target`. `replace` makes the
// other items of the patch the new list and leaves nothing to merge.
Failure ApplyItemDirectives(Json& target, Json& patch, std::string_view merge_key) {
  Json plain = Json::array();
  std::set<Json> deleted;
  bool replace = false;
  for (Json& item : patch) {
    auto it = item.find(kDirective);
    if (it == item.end()) {
      plain.push_back(std::move(item));
    } else if (*it == "delete") {
      if (!item.contains(merge_key)) return NoMergeKey(item, merge_key);
      deleted.insert(item[merge_key]);
    } else if (*it == "replace") {
      replace = true;
    } else if (*it == "merge") {
      return GenericServerError("merging lists cannot yet be specified in the patch");
    } else {
      return UnknownDirective(*it, item);
    }
  }
  if (replace) {
    target = std::move(plain);
    patch = Json::array();
    return std::nullopt;
  }
  Json kept = Json::array();
  for (Json& item : target) {
    auto key = item.find(merge_key);
    if (key == item.end() || !deleted.contains(*key)) kept.push_back(std::move(item));
  }
  target = std::move(kept);
  patch = std::move(plain);
  return std::nullopt;
}

// The common case: a short list, and a patch that names some of its items in the order of the list. Returns
// their positions, or nullopt in any other case.
std::optional<std::vector<std::size_t>> PlacesOf(const Json& patch, const Json& target,
                                                 std::string_view merge_key) {
  constexpr std::size_t kShort = 16;
  if (merge_key.empty() || target.size() > kShort || patch.size() > target.size()) return std::nullopt;
  std::array<std::string_view, kShort> keys;
  for (std::size_t i = 0; i < target.size(); ++i) {
    keys[i] = StringAt(target[i], merge_key);
    if (keys[i].empty() || std::find(keys.begin(), keys.begin() + i, keys[i]) != keys.begin() + i)
      return std::nullopt;
  }
  std::vector<std::size_t> out;
  out.reserve(patch.size());
  auto next = keys.begin();
  for (const Json& item : patch) {
    const std::string_view key = StringAt(item, merge_key);
    if (key.empty() || item.contains(kDirective) || item.contains(kRetainKeys)) return std::nullopt;
    next = std::find(next, keys.begin() + target.size(), key);
    if (next == keys.begin() + target.size()) return std::nullopt;
    out.push_back(static_cast<std::size_t>(next++ - keys.begin()));
  }
  return out;
}

Failure MergeObjects(Json& target, Json& patch, const ListRule& rule, WorkLimit& limit) {
  if (rule.merge_key.empty()) return NoKeyDeclared(rule);
  if (Failure failure = ApplyItemDirectives(target, patch, rule.merge_key)) return failure;
  for (const Json* list : {&std::as_const(patch), &std::as_const(target)})
    if (Failure failure = CheckKeys(*list, rule.merge_key)) return failure;

  const Ranks patch_order(patch, rule.merge_key);
  const Ranks server_order(target, rule.merge_key);
  Json merged = std::move(target);
  std::map<Json, std::size_t> position;  // of the first item with each key, old or new
  for (std::size_t i = 0; i < merged.size(); ++i) position.emplace(merged[i][rule.merge_key], i);
  for (Json& item : patch) {
    auto [at, is_new] = position.emplace(item[rule.merge_key], merged.size());
    if (is_new) {
      merged.push_back(std::move(item));
    } else if (Failure failure = MergeObject(merged[at->second], item, rule.message, limit)) {
      return failure;
    }
  }
  // A null for the merge key, or a $retainKeys without it, has removed the key.
  if (Failure failure = CheckKeys(merged, rule.merge_key)) return failure;
  target = InOrder(std::move(merged), patch_order, server_order, rule.merge_key);
  return std::nullopt;
}

// Checks that the items of `patch` are in `order`, in the same sequence. Items with a directive need not be
// in `order`, but only `delete` items may follow after the end of `order`.
Failure CheckOrder(const Json& patch, const Json& order, std::string_view merge_key) {
  if (patch.empty() || order.empty()) return std::nullopt;
  std::vector<const Json*> items;
  for (const Json& item : patch) {
    if (!merge_key.empty() && !item.is_object()) return BadArgument("map[string]interface {}", item);
    if (merge_key.empty() || item.value(kDirective, Json()) != "delete") items.push_back(&item);
  }
  auto next = items.begin();
  for (auto at = order.begin(); next != items.end() && at != order.end();) {
    if ((*next)->is_object() && (*next)->contains(kDirective)) {
      ++next;
      continue;
    }
    if (!merge_key.empty() && !(*next)->contains(merge_key)) return NoMergeKey(**next, merge_key);
    if (KeyOf(*at, merge_key) == KeyOf(**next, merge_key)) ++next;
    ++at;
  }
  if (next == items.end()) return std::nullopt;
  return GenericServerError("The order in patch list:\n" + GoValue(patch) + "\n doesn't match " +
                            std::string(kSetElementOrder) + " list:\n" + GoValue(order) + "\n");
}

// The order of the server's items, which positions server-only items in a list with $setElementOrder.
// Kubernetes deletes items in place and appends new items into the freed slots, so these new items count as
// known to the server. A container that is renamed ([old, sidecar] -> new) therefore comes after the sidecar
// that only the server has.
Json ServerOrder(const Json& server, const Json& patch, std::string_view merge_key) {
  if (merge_key.empty() || patch.empty()) return server;
  std::set<Json> deleted;
  std::vector<const Json*> plain;
  for (const Json& item : patch) {
    if (!item.is_object() || !item.contains(merge_key)) continue;
    if (!item.contains(kDirective))
      plain.push_back(&item);
    else if (item[kDirective] == "delete")
      deleted.insert(item[merge_key]);
  }
  Json order = Json::array();
  std::set<Json> kept;
  for (const Json& item : server) {
    if (!item.is_object() || !item.contains(merge_key) || deleted.contains(item[merge_key])) continue;
    order.push_back(item);
    kept.insert(item[merge_key]);
  }
  for (const Json* item : plain)
    if (order.size() < server.size() && kept.insert((*item)[merge_key]).second) order.push_back(*item);
  return order;
}

}  // namespace

Failure MergeList(Json& target, Json& patch, const ListRule& rule, WorkLimit& limit) {
  if (!rule.merge) {
    target = std::move(patch);
    return std::nullopt;
  }
  if (target.empty() && patch.empty()) return std::nullopt;
  if (const auto places = PlacesOf(patch, target, rule.merge_key)) {
    for (std::size_t i = 0; i < places->size(); ++i)
      if (Failure failure = MergeObject(target[(*places)[i]], patch[i], rule.message, limit)) return failure;
    return std::nullopt;
  }
  if (Failure failure = limit.Spend(target.size() + patch.size())) return failure;
  if (Failure failure = CheckElements(target, patch)) return failure;
  const Json& first = target.empty() ? patch[0] : target[0];
  if (first.is_object()) return MergeObjects(target, patch, rule, limit);
  if (!rule.merge_key.empty()) return BadArgument("map[string]interface {}", first);
  return MergeScalars(target, patch);
}

Failure RemoveScalars(Json& target, const Json& remove, WorkLimit& limit) {
  if (target.empty() && remove.empty()) return std::nullopt;
  if (Failure failure = limit.Spend(target.size() + remove.size())) return failure;
  if (Failure failure = CheckElements(target, remove)) return failure;
  const std::set<Json> gone(remove.begin(), remove.end());
  Json kept = Json::array();
  for (Json& item : target)
    if (!gone.contains(item)) kept.push_back(std::move(item));
  target = std::move(kept);
  return std::nullopt;
}

Failure MergeListInOrder(Json& target, Json& patch, const Json& order, const ListRule& rule,
                         WorkLimit& limit) {
  if (Failure failure = limit.Spend(target.size() + patch.size() + order.size())) return failure;
  if (!rule.merge_key.empty())
    if (Failure failure = CheckKeys(order, rule.merge_key)) return failure;
  if (!patch.is_null())
    if (Failure failure = CheckOrder(patch, order, rule.merge_key)) return failure;
  if (target.is_null() && patch.is_null()) return std::nullopt;

  const Json server = target.is_null() ? Json::array() : target;
  if (server.empty() && patch.empty()) return GenericServerError("no elements in any of the given slices");
  const Json server_order = ServerOrder(server, patch, rule.merge_key);
  const bool of_objects = (server.empty() ? patch : server)[0].is_object();
  if (of_objects && rule.merge_key.empty()) return NoKeyDeclared(rule);
  if (target.is_null()) {
    StripDirectives(patch);
    target = std::move(patch);
  } else if (!patch.is_null()) {
    if (Failure failure = MergeList(target, patch, rule, limit)) return failure;
  }
  if (!rule.merge_key.empty()) {
    for (const Json* list : {&std::as_const(target), &server_order})
      if (Failure failure = CheckKeys(*list, rule.merge_key)) return failure;
  }
  target = InOrder(std::move(target), Ranks(order, rule.merge_key), Ranks(server_order, rule.merge_key),
                   rule.merge_key);
  return std::nullopt;
}

}  // namespace terrarium::api::strategic
