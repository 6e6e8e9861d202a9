#pragma once

// Rules that ConfigMap and Secret share.

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

inline constexpr std::size_t kMaxDataBytes = 1024 * 1024;

// How many bytes a base64 text stands for.
std::size_t DecodedSize(const Json& base64);

// `immutable` cannot be taken back, and the fields named cannot change while it is set.
void KeptWhenImmutable(FieldErrors& errors, const Json& object, const Json& old,
                       std::initializer_list<std::string_view> fields);

}  // namespace terrarium::apiserver::strategy
