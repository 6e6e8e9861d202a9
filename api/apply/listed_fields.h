#pragma once

// The fields that a document lists: what a client owns that applies it.

#include <optional>
#include <string>

#include "api/apply/field_set.h"
#include "api/apply/value_type.h"

namespace terrarium::api {

// Returns nullopt when a list has an item that cannot be named, and sets *error.
std::optional<FieldSetPtr> ListedFields(const ValueType& type, const Json& document, std::string* error);

}  // namespace terrarium::api
