#pragma once

// Which pod template a ReplicaSet has: its hash, by which sets are named, and whether it is the Deployment's.
// Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "api/json.h"
#include "controllers/runtime/name_hash.h"

namespace terrarium::controllers::deployment {

inline constexpr std::string_view kTemplateHashLabel = "pod-template-hash";

// DEPLOYMENT-HASH, the first part cut where the whole would be too long for a name.
std::string ReplicaSetName(std::string_view deployment, std::string_view hash);

// Whether two templates are the same but for the label pod-template-hash, which only those of ReplicaSets
// have.
bool SameTemplate(const api::Json& a, const api::Json& b);
// A number that is the same for all templates that are the same in that sense, and hardly ever for others.
std::uint64_t TemplateDigest(const api::Json& pod_template);
// The template without that label.
api::Json WithoutHash(api::Json pod_template);

}  // namespace terrarium::controllers::deployment
