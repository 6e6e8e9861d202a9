#pragma once

// Checks the objects in a scenario against the schema of their kind before the scenario runs. An expectation
// about a misspelt field would otherwise fail much later, or never.

#include <string>

#include "apiserver/resource_table.h"
#include "testbed/scenario/shape.h"

namespace terrarium::testbed::scenario {

enum class FieldUse {
  kManifest,  // an object to be sent
  kPatch,     // a part of one: null removes, keys with $ are directives
  kMatch,     // a part of one, with comparisons (match.h)
};

// Reports unknown fields, and values of the wrong type.
void CheckFields(const apiserver::ResourceInfo& resource, const Json& value, const std::string& path,
                 FieldUse use, Mistakes& mistakes);

}  // namespace terrarium::testbed::scenario
