#pragma once

// The text of stored documents, written and read several times as fast as the library does it in general: objects are
// made of short plain strings and integers, and what is read here was written here.

#include <span>
#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::api {

// Appends the value as compact JSON, the same bytes that dump() gives. Text that is no UTF-8 is replaced as Go's encoder
// does rather than refused.
void AppendJson(const Json& value, std::string& out);

// Reads what AppendJson has written. REQUIRES: `text` is valid JSON.
Json ReadJson(std::string_view text);

// Which members of an object somebody looks at.
struct Keep {
  std::string_view name;
  std::span<const Keep> below = {};  // of the object, or of each object of the list; empty: the whole value
};
// The same as ReadJson for a part of an object; the rest is skipped, which costs next to nothing.
Json ReadSome(std::string_view text, std::span<const Keep> keep);
// The text of a member's value, or empty when the object has none of that name.
std::string_view FindMember(std::string_view text, std::string_view name);

}  // namespace terrarium::api
