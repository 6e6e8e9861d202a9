#pragma once

// Holds what a scenario says about an object against the kind's schema, so that a misspelt field is found
// where it stands and before anything runs: an expectation of a field that no object has would fail much
// later, or never.

#include <string>

#include "apiserver/resource_table.h"
#include "testbed/scenario/shape.h"

namespace terrarium::testbed::scenario {

enum class FieldUse {
  kManifest,  // an object to be sent
  kPatch,     // a part of one: null removes, keys with $ are directives
  kMatch,     // a part of one, with comparisons (match.h)
};

// Unknown fields, and values of another type than the field's.
void CheckFields(const apiserver::ResourceInfo& resource, const Json& value, const std::string& path,
                 FieldUse use, Mistakes& mistakes);

}  // namespace terrarium::testbed::scenario
