#pragma once

// What the schema tables alone decide about an incoming object, before its strategy sees it: static defaults
// (api::ApplyDefaults) and fields that belong to a feature gate.

#include <string>
#include <vector>

#include "api/base/feature_gates.h"
#include "api/json.h"
#include "api/schema/defaulting.h"
#include "api/schema/schema.h"
#include "apiserver/gate_log.h"

namespace terrarium::apiserver {

// Removes the fields whose feature gate is off, except where `old` (null on create) has that very field set: an object
// that was written while the gate was on keeps what it has, and may change it, until somebody removes it. Items of
// lists are matched with the old ones by their merge key, or by position where there is none.
// Returns what became of the fields that have a gate: those that were removed, and where `old` is given also those that
// are kept although their gate is off, that `old` has and the object has not, and the other way round.
std::vector<GateNote> DropGatedFields(const api::Message& message, api::Json& object, const api::Json* old,
                                      const api::FeatureGates& gates);

}  // namespace terrarium::apiserver
