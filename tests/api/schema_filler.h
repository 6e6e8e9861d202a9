#pragma once

// Documents made up from the schema tables, so that "every field survives" is tested for fields nobody
// thought of.

#include <cstdint>

#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::api {

struct FillOptions {
  std::uint64_t seed = 1;
  // Sets every field, to something that is not its zero. Otherwise about a third of them, some to zero or
  // null.
  bool everything = true;
  // Whether to set the fields that no Kubernetes release has (protobuf numbers from 1000 up).
  bool own_fields = true;
};

// A document of `message`. Leaves out kind and apiVersion and all else that has no protobuf form.
Json Fill(const Message& message, const FillOptions& options);

}  // namespace terrarium::api
