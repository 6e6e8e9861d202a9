#pragma once

// Hashes in the names and labels of what a controller creates for a pod template. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::controllers {

// FNV-1 and FNV-1a of 32 bits; `hash` continues an earlier one.
inline constexpr std::uint32_t kFnv32Start = 2166136261u;
std::uint32_t Fnv1(std::string_view bytes, std::uint32_t hash = kFnv32Start);
std::uint32_t Fnv1a(std::string_view bytes, std::uint32_t hash = kFnv32Start);

// The decimal digits of a hash as letters and digits that spell no words, as generated names have them.
std::string SafeEncode(std::uint32_t hash);

// The hash of a pod template, by which ReplicaSets and the revisions of DaemonSets are named. Another
// collision count gives another hash: it grows when an object of that name turns out to have another
// template.
// DIVERGES: Kubernetes hashes a dump of its Go structures, so the values differ from ours.
std::string TemplateHash(const api::Json& pod_template, std::optional<std::int64_t> collision_count);

}  // namespace terrarium::controllers
