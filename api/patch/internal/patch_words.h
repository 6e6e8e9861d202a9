#pragma once

// The messages with which Kubernetes rejects a bad patch, which come from Go and from its own libraries.

#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/json.h"

namespace terrarium::api {

// As fmt's %v: map[a:1 b:[x y]], with <nil> for null and strings unquoted.
std::string GoValue(const Json& value);
// As reflect.TypeOf of the decoded value: "string", "int64", "[]interface {}", "map[string]interface {}".
std::string GoType(const Json& value);
// As Go's decoder: `json: cannot unmarshal array into Go <into>`.
std::string CannotUnmarshal(const Json& value, std::string_view into);
// The 422 for a patch that cannot be applied; Kubernetes gives no details.
Status RejectedPatch();

}  // namespace terrarium::api
