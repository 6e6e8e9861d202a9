#pragma once

// Whether an applied configuration fits its schema.

#include <string>

#include "api/apply/value_type.h"

namespace terrarium::api {

// Empty when all is declared and of the right type, and no associative list names an item twice. Otherwise
// Kubernetes' text: `.data.a: expected string, got &value.valueUnstructured{Value:1}`, or a list of such.
std::string CheckTypes(const ValueType& type, const Json& config);

// Brings values that have several forms into the one that objects are stored in: quantities and times. Values
// that are neither are left for the decoder to refuse.
void CanonicalizeForms(const ValueType& type, Json& config);

}  // namespace terrarium::api
