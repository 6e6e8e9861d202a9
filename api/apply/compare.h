#pragma once

// What differs between two states of an object, in the terms of field ownership.

#include <optional>
#include <string>

#include "api/apply/field_set.h"
#include "api/apply/value_type.h"

namespace terrarium::api {

// No path is in more than one of the sets.
struct Comparison {
  FieldSetPtr removed;
  FieldSetPtr modified;
  FieldSetPtr added;

  bool IsSame() const { return removed == nullptr && modified == nullptr && added == nullptr; }
  // The paths that `to` has changed or added.
  FieldSetPtr Set() const { return Union(modified, added); }
};

// Returns nullopt when a list has an item that cannot be named, and sets *error. The objects' fields that are
// members of `skipped` are not compared.
std::optional<Comparison> Compare(const ValueType& type, const Json& from, const Json& to, std::string* error,
                                  const FieldSetPtr& skipped = nullptr);

// Leaves out what `fields` has, with all below it.
Comparison Without(Comparison comparison, const FieldSetPtr& fields);

}  // namespace terrarium::api
