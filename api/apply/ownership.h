#pragma once

// What a write does to the owners of an object's fields. The functions are pure.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/apply/compare.h"
#include "api/apply/managed_fields.h"
#include "api/base/status.h"

namespace terrarium::api {

// The endpoint of a write as field ownership sees it.
struct OwnedType {
  ValueType type;
  // The fields that writes to the endpoint cannot change, and that its clients therefore do not own.
  FieldSetPtr reset;
  // Whether the kind is served in this apiVersion. Entries of other versions are dropped. Empty: only in the
  // version of the request.
  std::function<bool(std::string_view)> serves;
};

// The object that a client sees before it creates one: what Go writes for a struct without values.
Json EmptyDocument(const Message& message);

// Of clients that update more than this, the oldest are folded into one entry, ancient-changes.
inline constexpr std::size_t kUpdateManagersMax = 10;

// The owners after an update that changed `comparison`: what is new or different belongs to `manager`, what
// is gone to none. An entry that stays the same keeps its time and its set.
ManagedFields OwnersAfterUpdate(const OwnedType& type, const Comparison& comparison, ManagedFields managed,
                                const FieldManager& manager, Time now);
// The same, from the object before and after. On creation `before` is the empty object of the kind. Returns
// nullopt when the objects cannot be compared, and sets *error.
std::optional<ManagedFields> OwnersAfterUpdate(const OwnedType& type, const Json& before, const Json& after,
                                               ManagedFields managed, const FieldManager& manager, Time now,
                                               std::string* error);

// A field that an applied configuration would take from another manager.
struct FieldConflict {
  FieldManager manager;
  FieldPath path;
};
using FieldConflicts = std::vector<FieldConflict>;
// 409 with a cause for each conflict.
Status ConflictStatus(const FieldConflicts& conflicts);

struct Applied {
  std::optional<Json> object;  // nullopt: the same as before
  ManagedFields managed;
};
// The object, the conflicts, or the text of another failure.
using ApplyOutcome = std::variant<Applied, FieldConflicts, std::string>;

struct ApplyRequest {
  const Json& before;  // the empty object of the kind if there is none yet
  const Json& config;  // has passed CheckTypes()
  const FieldManager& manager;
  bool force = false;
  Time now;
};
// Merges the configuration into the object. Fields that the manager applied before and does not list any
// more are removed unless another manager owns them.
ApplyOutcome ApplyConfiguration(const OwnedType& type, const ApplyRequest& request, ManagedFields managed);

// The manager of the fields of an object that had no owners when it was first applied.
inline constexpr std::string_view kBeforeFirstApply = "before-first-apply";

}  // namespace terrarium::api
