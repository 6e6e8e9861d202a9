#pragma once

// Merging an applied configuration into an object, and removing from it what its manager has let go.

#include <optional>
#include <string>

#include "api/apply/field_set.h"
#include "api/apply/value_type.h"

namespace terrarium::api {

// `object` with what `config` lists. Items of associative lists are merged one by one; their order is the
// configuration's for the items that it lists, and the object's for the others. Returns nullopt when a list
// has an item that cannot be named, or the configuration's list has one twice, and sets *error.
std::optional<Json> Merge(const ValueType& type, const Json& object, const Json& config, std::string* error);

// `object` without the items of `gone`. An object or list that loses all its items becomes null.
Json RemoveItems(const ValueType& type, const Json& object, const FieldSetPtr& gone);

// `set` with the declared fields that it goes through ("spec" for "spec.replicas") as members.
FieldSetPtr WithNamedFields(const ValueType& type, const FieldSetPtr& set);

}  // namespace terrarium::api
