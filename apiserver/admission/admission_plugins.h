#pragma once

// The admission plugins that can be switched, by Kubernetes' names. What other plugins do in Kubernetes
// belongs to the strategies here, and cannot be switched.

#include <set>
#include <string>
#include <string_view>

#include "api/base/status.h"

namespace terrarium::apiserver {

using AdmissionPluginSet = std::set<std::string, std::less<>>;

inline constexpr std::string_view kServiceAccountPlugin = "ServiceAccount";

// The names of a comma-separated list. 400 for a name that is not a plugin of the chain.
api::Result<AdmissionPluginSet> ParseAdmissionPlugins(std::string_view list);

}  // namespace terrarium::apiserver
