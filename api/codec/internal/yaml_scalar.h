#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::api {

enum class YamlType : std::uint8_t { kNull, kBool, kInt, kFloat, kString, kTimestamp };

struct YamlScalar {
  YamlType type = YamlType::kString;
  // The value of a null, a bool, an int or a float. A string and a timestamp have the text of the scalar,
  // which is not copied here, except for the bytes of a !!binary.
  Json value;
};

// The value of a plain scalar without a tag by the rules of YAML 1.1 as go-yaml v2 implements them. A float
// may be infinite or not a number.
YamlScalar ResolveYamlScalar(std::string_view text);

// The same for a scalar with a tag such as "tag:yaml.org,2002:int". Returns nullopt and sets *error to
// go-yaml's message when the text is not a value of the tag's type.
std::optional<YamlScalar> ResolveTaggedYamlScalar(std::string_view tag, std::string_view text,
                                                  std::string* error);

// The JSON value of `scalar`, which was resolved from `text`. Go writes a float that is a whole number
// without a fraction and reads it back as an integer, so it becomes one here.
Json YamlScalarToJson(YamlScalar scalar, std::string_view text);

// The JSON form of a mapping key; nullopt for a key that is invalid in JSON (null, or an integer beyond
// int64).
std::optional<std::string> YamlKey(const YamlScalar& scalar, std::string_view text);

}  // namespace terrarium::api
