#pragma once

// Rules of addresses that Services, Nodes and the kinds of networking share (Kubernetes 1.36,
// StrictIPCIDRValidation on).

#include <optional>
#include <set>
#include <string_view>

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

// The texts of a list. They live as long as the list.
using Texts = std::set<std::string_view>;
Texts TextsOf(const Json& list);

// Refuses a malformed address or CIDR, unless `old_values` has it.
void ValidIp(FieldErrors& errors, std::string_view text, const Texts& old_values, const api::Path& path);
void ValidCidr(FieldErrors& errors, std::string_view text, const Texts& old_values, const api::Path& path);
// Whether `inner` is a part of `outer` and smaller; nullopt if one of them is malformed.
std::optional<bool> IsStrictSubset(std::string_view inner, std::string_view outer);
// Refuses unspecified, loopback and link-local addresses; ignores malformed text.
void OrdinaryIp(FieldErrors& errors, std::string_view text, const api::Path& path);

// "IPv6" or "IPv4" of a CIDR or an address.
inline std::string_view FamilyOf(std::string_view text) {
  return text.find(':') == std::string_view::npos ? "IPv4" : "IPv6";
}

}  // namespace terrarium::apiserver::strategy
