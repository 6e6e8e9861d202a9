#pragma once

// Rules that ConfigMap and Secret share.

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

inline constexpr std::size_t kMaxDataBytes = 1024 * 1024;

// The decoded size of a base64 text.
std::size_t DecodedSize(const Json& base64);

// Forbids to unset `immutable`, and to change the named fields while it is set.
void KeptWhenImmutable(FieldErrors& errors, const Json& object, const Json& old,
                       std::initializer_list<std::string_view> fields);

}  // namespace terrarium::apiserver::strategy
