#pragma once

// A validator for as much of JSON Schema as scenario.schema.json uses; a keyword that it does not know ends
// the test.

#include <string>

#include "api/json.h"

namespace terrarium::testbed::scenario {

// Where and why `value` does not satisfy the schema; empty when it does.
std::string SchemaViolation(const api::Json& schema, const api::Json& value);

}  // namespace terrarium::testbed::scenario
