#pragma once

// The two halves of the strategic merge: objects (strategic_merge.cc) and lists (strategic_list.cc).

#include <optional>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::api::strategic {

inline constexpr std::string_view kDirective = "$patch";
inline constexpr std::string_view kRetainKeys = "$retainKeys";
inline constexpr std::string_view kSetElementOrder = "$setElementOrder";
inline constexpr std::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList";

// Empty on success.
using Failure = std::optional<Status>;

// A patch that names one item again and again makes the merge walk over the item's own lists and members as
// often. Kubernetes does not limit that. Merging each item once stays below the limit.
class WorkLimit {
 public:
  explicit WorkLimit(std::size_t work) : left_(work) {}
  // Four times the values of both: an order, its list and the list's items each count once or twice.
  static WorkLimit For(const Json& document, const Json& patch);

  // Fails when the patch has used up its work: members and list items that were moved or compared.
  Failure Spend(std::size_t work);

 private:
  std::size_t left_;
};

// How a list is patched.
struct ListRule {
  bool merge = false;                // otherwise the patch's list replaces the old one
  std::string_view merge_key{};      // of the items; empty for scalars
  const Message* message = nullptr;  // struct of the items, when the schema knows it
};

// Merges `patch` into the object `target`, using up the patch. `schema` may be null: plain JSON.
Failure MergeObject(Json& target, Json& patch, const Message* schema, WorkLimit& limit);

// Merges `patch` into the list `target`, using up the patch.
Failure MergeList(Json& target, Json& patch, const ListRule& rule, WorkLimit& limit);
// Takes the scalars of `remove` out of the list `target`.
Failure RemoveScalars(Json& target, const Json& remove, WorkLimit& limit);
// Applies one $setElementOrder: merges `patch` (null when it has none) into `target` (null when it has none;
// the result is put there) and orders the outcome by `order`.
Failure MergeListInOrder(Json& target, Json& patch, const Json& order, const ListRule& rule,
                         WorkLimit& limit);

// Drops every object that carries a $patch directive; false when `value` itself is one.
bool StripDirectives(Json& value);

Status BadArgument(std::string_view expected_go_type, const Json& actual);
Status NoMergeKey(const Json& item, std::string_view merge_key);
Status UnknownDirective(const Json& directive, const Json& object);

}  // namespace terrarium::api::strategic
