#pragma once

#include <optional>
#include <string>

#include "api/json.h"

namespace terrarium::controllers::serviceaccount {

inline constexpr const char* kRootCaMap = "kube-root-ca.crt";

// The ConfigMap of a namespace with these certificates; nullopt if `existing` (null: none) needs no write.
std::optional<api::Json> RootCaMapOf(const api::Json& existing, const std::string& certificates);

}  // namespace terrarium::controllers::serviceaccount
