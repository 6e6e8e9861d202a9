#pragma once

// The treatment of an incoming object that needs only the schema tables, before its strategy sees it: static
// defaults (api::ApplyDefaults) and the removal of fields whose feature gate is off.

#include <string>
#include <vector>

#include "api/base/feature_gates.h"
#include "api/json.h"
#include "api/schema/defaulting.h"
#include "api/schema/schema.h"
#include "apiserver/gate_log.h"

namespace terrarium::apiserver {

// Removes the fields whose feature gate is off, unless `old` (null on create) has the same field set. So an
// object that was written while the gate was on keeps the field, and a client may change its value until a
// client removes it. Items of lists are paired with the old ones by their merge key, or by position if the
// list has no merge key.
//
// Returns one note for each gated field that was removed. If `old` is given, also for each gated field that
// was kept although its gate is off, that only `old` has, or that only the object has.
std::vector<GateNote> DropGatedFields(const api::Message& message, api::Json& object, const api::Json* old,
                                      const api::FeatureGates& gates);

}  // namespace terrarium::apiserver
