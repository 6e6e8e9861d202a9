#pragma once

// Small rules that several kinds share. Each appends to `errors` what Kubernetes would say, in its words.

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

// parent[key], when present, is not negative.
void Nonnegative(FieldErrors& errors, const Json& parent, std::string_view key, const Path& parent_path);
// status[key] <= status[limit_key], absent counting as 0; `why` is said otherwise.
void NotGreater(FieldErrors& errors, const Json& status, std::string_view key, std::string_view limit_key,
                std::string_view why, const Path& status_path);
// parent[key] is what it was.
void Immutable(FieldErrors& errors, const Json& parent, const Json& old_parent, std::string_view key,
               const Path& parent_path);
// status.collisionCount never goes back.
void CollisionCountKept(FieldErrors& errors, const Json& object, const Json& old);

// A value of a fixed set; absent and "" are refused as well.
void OneOf(FieldErrors& errors, const Path& path, std::string_view value,
           const std::vector<std::string_view>& supported);

// metav1.Condition lists.
void Conditions(FieldErrors& errors, const Json& conditions, const Path& path);

// What Kubernetes warns of when a name that goes into pod names is no DNS label.
std::vector<std::string> PodNameWarnings(const Json& object);

// Numbers as Go's strconv.Atoi reads them: an optional sign and digits that fit 64 bits.
std::optional<std::int64_t> ParseInt(std::string_view text);

}  // namespace terrarium::apiserver::strategy
