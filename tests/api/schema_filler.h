#pragma once

// Generates documents from the schema tables, so that "every field survives" is also tested for fields that
// have no test of their own.

#include <cstdint>

#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::api {

struct FillOptions {
  std::uint64_t seed = 1;
  // Sets every field to a value other than its zero value. Otherwise about a third of the fields are set,
  // some to zero or null.
  bool everything = true;
  // Whether to set the fields that no Kubernetes release has (protobuf numbers from 1000 up).
  bool own_fields = true;
};

// A document of `message`, without kind, apiVersion and other fields that have no protobuf form.
Json Fill(const Message& message, const FillOptions& options);

}  // namespace terrarium::api
