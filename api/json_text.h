#pragma once

// Writes and reads the text of stored documents, several times as fast as the general functions of the
// library. It can be faster because objects consist mostly of short plain strings and integers, and because
// it reads only text that it has written.

#include <span>
#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::api {

// Appends the value as compact JSON, the same bytes that dump() gives. Invalid UTF-8 is replaced, as in Go's
// encoder, rather than rejected.
void AppendJson(const Json& value, std::string& out);

// Reads what AppendJson has written. REQUIRES: `text` is valid JSON.
Json ReadJson(std::string_view text);

// The members of an object that ReadSome reads.
struct Keep {
  std::string_view name;
  std::span<const Keep> below = {};  // of the object, or of each object of the list; empty: the whole value
};
// Same as ReadJson, but reads only the members in `keep`. Skipping the others costs very little.
Json ReadSome(std::string_view text, std::span<const Keep> keep);
// The text of a member's value, or empty when the object has no such member.
std::string_view FindMember(std::string_view text, std::string_view name);

}  // namespace terrarium::api
