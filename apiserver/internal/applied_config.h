#pragma once

// Server-side apply of one request: the configuration that it brings, and what it makes of an object.

#include <optional>
#include <string>
#include <vector>

#include "api/apply/ownership.h"
#include "api/base/status.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/options.h"

namespace terrarium::apiserver {

// A configuration that fits its kind.
struct AppliedConfig {
  Json document;
  std::vector<std::string> strict_errors;  // keys that the text has twice
};

// Reads the call's body as a configuration of the expected kind.
api::Result<AppliedConfig> ReadAppliedConfig(const Call& call, const ExpectedKind& expected);

// What strict decoding found: an error, warnings of the call, or nothing.
api::Result<void> JudgeAppliedConfig(Call& call, const AppliedConfig& config, FieldValidation validation);

struct ApplyTarget {
  const api::OwnedType& type;
  const Json& before;  // the empty object of the kind if there is none yet
  const api::ManagedFieldsPtr& owners;
};

struct ApplyResult {
  std::optional<Json> object;  // nullopt: the same as before
  api::ManagedFieldsPtr owners;
};

// Merges the configuration into the object; 409 for fields that other managers own.
api::Result<ApplyResult> ApplyConfig(const Call& call, const AppliedConfig& config, const ApplyTarget& target,
                                     const api::FieldManager& manager, bool force);

}  // namespace terrarium::apiserver
