#pragma once

// Static defaulting: gives every absent field its declared default, here and in all structs below that are
// present.

#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::api {

// `doc` is a normalized document of `message` (see codec/normalize.h). Idempotent. A field that is absent or
// null is set, and so is a plain one (no pointer in Go) that is zero; an explicit zero behind a pointer
// stays.
void ApplyDefaults(const Message& message, Json& doc);

}  // namespace terrarium::api
