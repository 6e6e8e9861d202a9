#pragma once

// Rules that several kinds share. Each appends Kubernetes' errors to `errors`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/field_error.h"
#include "api/json.h"
#include "api/json_access.h"
#include "apiserver/strategy.h"
#include "apiserver/validation/metadata.h"

namespace terrarium::apiserver::strategy {

using api::BoolAt;
using api::Find;
using api::IntAt;
using api::ListAt;
using api::ObjectAt;
using api::Path;
using api::StringAt;

// metadata of a new and of a changed object.
FieldErrors NewMetadata(const Json& object, bool namespaced, NameCheck rule);
FieldErrors ChangedMetadata(const Json& object, const Json& old);

// The object below `key`, made when it is absent.
Json& ObjectField(Json& parent, std::string_view key);

// Requires parent[key] not to be negative.
void Nonnegative(FieldErrors& errors, const Json& parent, std::string_view key, const Path& parent_path);
// Requires status[key] <= status[limit_key], absent counting as 0; `why` is the error message.
void NotGreater(FieldErrors& errors, const Json& status, std::string_view key, std::string_view limit_key,
                std::string_view why, const Path& status_path);
// Requires parent[key] to be unchanged.
void Immutable(FieldErrors& errors, const Json& parent, const Json& old_parent, std::string_view key,
               const Path& parent_path);
// Requires status.collisionCount not to decrease.
void CollisionCountKept(FieldErrors& errors, const Json& object, const Json& old);

// Requires one of `supported`; absent and "" are refused as well.
void OneOf(FieldErrors& errors, const Path& path, std::string_view value,
           const std::vector<std::string_view>& supported);

// A name in a path: requires parent[field] to be one, and to be set if `required`.
enum class Presence { kOptional, kRequired };
void PathSegment(FieldErrors& errors, const Json& parent, std::string_view field, Presence presence,
                 const Path& parent_path);

// metav1.Condition lists.
void Conditions(FieldErrors& errors, const Json& conditions, const Path& path);

// Kubernetes' warnings for a name that becomes a part of pod names and is not a DNS label.
std::vector<std::string> PodNameWarnings(const Json& object);

// Numbers as Go's strconv.Atoi reads them: an optional sign and digits that fit 64 bits.
std::optional<std::int64_t> ParseInt(std::string_view text);

}  // namespace terrarium::apiserver::strategy
