#pragma once

// Sets of fields as the API shows them (metav1.FieldsV1): nested objects whose names are path elements, with
// "." for a path that is in the set together with paths below it.

#include <cstddef>
#include <optional>
#include <string>

#include "api/apply/field_set.h"
#include "api/json.h"

namespace terrarium::api {

// Appends the JSON text, byte for byte as Kubernetes writes it.
void AppendFieldsV1(const FieldSetPtr& set, std::string& out);
Json FieldsV1Of(const FieldSetPtr& set);

// No schema nests as deeply as this. A client could send more, and every walk through a set recurses.
inline constexpr std::size_t kFieldDepthMax = 1000;

// Elements of a kind that is not known are skipped, as in Kubernetes. On failure returns nullopt and sets
// *error.
std::optional<FieldSetPtr> ReadFieldsV1(const Json& fields, std::string* error);

}  // namespace terrarium::api
