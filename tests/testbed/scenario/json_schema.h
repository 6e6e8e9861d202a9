#pragma once

// A validator for the subset of JSON Schema that scenario.schema.json uses. An unknown keyword ends the test.

#include <string>

#include "api/json.h"

namespace terrarium::testbed::scenario {

// Where and why `value` violates the schema; empty if it does not.
std::string SchemaViolation(const api::Json& schema, const api::Json& value);

}  // namespace terrarium::testbed::scenario
