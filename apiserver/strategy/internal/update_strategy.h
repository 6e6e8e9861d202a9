#pragma once

// Kubernetes' error for an update strategy of unknown type. It prints the Go struct: Go's field names in
// declaration order, with null for absent fields.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/field_error.h"
#include "api/json.h"

namespace terrarium::apiserver::strategy {

using api::Json;

// {"Type":"Nope","RollingUpdate":null}; `rolling_fields` are rollingUpdate's fields in declaration order.
std::string UpdateStrategyText(const Json& strategy, std::initializer_list<std::string_view> rolling_fields);

// `Unsupported value: {"Type":...}: supported values: ...`
api::FieldError UnknownUpdateStrategy(const api::Path& path, const Json& strategy,
                                      std::initializer_list<std::string_view> rolling_fields,
                                      std::initializer_list<std::string_view> supported);

// An Invalid error with finished text for the value.
api::FieldError InvalidText(const api::Path& path, std::string_view value_text, std::string_view detail);

}  // namespace terrarium::apiserver::strategy
